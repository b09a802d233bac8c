//===- HeldOutSplit.h - Which tokens train and which validate -------------===//
//
// A pure function of (tokens, fraction, sequence length). The token stream is cut into up to 16 equal
// sections; the last `fraction` of each is held out. Ranges, not documents, because one book may be the whole
// corpus and because the fraction then is exact; several sections, because a corpus sorted by folder ends in
// a part that is unlike the rest. Samples never cross a border, so no token is both trained on and validated
// with.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_HELDOUTSPLIT_H
#define WEFT_RUNTIME_DATA_HELDOUTSPLIT_H

#include <cstdint>

namespace weft {

enum class Split { Training, Validation };

class HeldOutSplit {
public:
  /// `fraction` is in [0, 1), `sequenceLength` at least 1.
  HeldOutSplit(int64_t tokens, double fraction, int64_t sequenceLength);

  /// Samples of sequenceLength + 1 tokens; neighbors share one token, the last target of one and the first
  /// input of the next.
  int64_t samples(Split split) const;
  /// First token of sample `i`, 0 <= i < samples(split).
  int64_t sampleBegin(Split split, int64_t i) const;

  int64_t heldOutTokens() const;
  int64_t sections() const { return sectionCount; }

  /// Tokens [begin, end) of the stream.
  struct Range {
    int64_t begin;
    int64_t end;
  };
  /// What a section gives to a split.
  Range range(Split split, int64_t section) const;

private:
  Range section(int64_t index) const;
  int64_t heldOutOf(Range section) const;
  int64_t samplesIn(Range range) const;

  int64_t tokens;
  double fraction;
  int64_t sequenceLength;
  int64_t sectionCount;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_HELDOUTSPLIT_H
