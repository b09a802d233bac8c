//===- SplitBehavior.h - What becomes of what a split finds ---------------===//
//
// A split sees a text as segments: matches and what lies between them. Its behavior says which of them are
// pieces, and which are joined to a neighbor.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_SPLITBEHAVIOR_H
#define WEFT_RUNTIME_TOKENIZER_SPLITBEHAVIOR_H

#include "runtime/tokenizer/PreTokenizer.h"

#include <optional>

namespace weft {

enum class SplitBehavior {
  Removed,            ///< matches are dropped
  Isolated,           ///< every segment is a piece
  MergedWithPrevious, ///< a match ends the piece of the segment before it
  MergedWithNext,     ///< a match begins the piece of the segment behind it
  Contiguous,         ///< matches side by side are one piece
};

std::optional<SplitBehavior> splitBehaviorOf(std::string_view name);

/// Turns the segments of one text into pieces.
class SegmentJoiner {
public:
  SegmentJoiner(TextPiece whole, SplitBehavior behavior, EmitPiece emit)
      : whole(whole), behavior(behavior), emit(emit) {}

  /// Bytes [begin, end) come next; segments follow each other without gaps, and may be empty.
  absl::Status add(size_t begin, size_t end, bool isMatch);
  absl::Status finish();

private:
  absl::Status flush();
  bool joinsPending(bool isMatch) const;

  TextPiece whole;
  SplitBehavior behavior;
  EmitPiece emit;
  bool hasPending = false;
  bool wasMatch = false;
  size_t pendingBegin = 0;
  size_t pendingEnd = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_SPLITBEHAVIOR_H
