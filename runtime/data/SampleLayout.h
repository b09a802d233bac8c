//===- SampleLayout.h - Which tokens make sample i of an input ------------===//
//
// The samples of one input are numbered as they lie in it, before any order: `split` and `documents` cut the
// stream every T tokens, `best_fit` and `pad` keep documents whole where they fit (DocumentPacking.h). Each
// token of a split is in at most one sample. A sample is a list of pieces; `split` knows of no documents, so
// its one piece goes over their ends.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_SAMPLELAYOUT_H
#define WEFT_RUNTIME_DATA_SAMPLELAYOUT_H

#include "runtime/data/DocumentPacking.h"
#include "runtime/data/HeldOutSplit.h"

#include <array>
#include <optional>

namespace weft {

/// How documents become samples.
enum class SamplePacking { Split, Documents, BestFit, Pad };

class SampleLayout {
public:
  SampleLayout(const IndexView &index, const HeldOutSplit &split, SamplePacking packing,
               int64_t sequenceLength);

  const HeldOutSplit &split() const { return held; }
  int64_t samples(Split split) const;
  /// Replaces `pieces` by those of sample i, 0 <= i < samples(split), in order.
  void sample(const IndexView &index, Split split, int64_t i, DocumentPacking::Scratch &scratch,
              std::vector<SamplePiece> &pieces) const;

private:
  HeldOutSplit held;
  SamplePacking packing;
  int64_t sequenceLength;
  std::array<std::optional<DocumentPacking>, 2> packed; ///< by split, where documents are kept whole
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_SAMPLELAYOUT_H
