//===- DocumentPacking.h - Whole documents to samples ---------------------===//
//
// Documents longer than a sample give as many full samples as they fill; what is left of each, and every
// shorter document, is a piece. Pieces share samples by best fit, the longest first (as in arXiv:2404.10830),
// or, to be padded, have one each. Documents are dealt to windows like cards, so that each window is a sample
// of all of them however the corpus is sorted, and each window is packed alone: its packing is a function of
// the lengths of its documents, and only the number of its samples is kept. So opening costs one pass over
// the lengths, on all processors, and a sample is found by packing its window again.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_DOCUMENTPACKING_H
#define WEFT_RUNTIME_DATA_DOCUMENTPACKING_H

#include "runtime/data/HeldOutSplit.h"
#include "runtime/data/IndexFile.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft {

/// Consecutive tokens of one document in a sample.
struct SamplePiece {
  int64_t document; ///< of the dataset
  int64_t begin;    ///< number of the first token in the stream
  int64_t length;
  bool goesOn; ///< whether the token behind the last is its target: of the same document, and of the same
               ///< split
};

/// The documents of a split, cut where it ends; tokens of one document in two sections count as two.
class SplitDocuments {
public:
  SplitDocuments(const IndexView &index, std::span<const HeldOutSplit::Range> ranges);

  int64_t count() const { return total; }
  int64_t tokens() const;
  /// Document i, 0 <= i < count(), as one piece of any length; 0 for one without tokens.
  SamplePiece operator()(const IndexView &index, int64_t i) const;

private:
  struct Section {
    HeldOutSplit::Range range;
    int64_t firstDocument;
    int64_t documentsBefore; ///< in sections before this one
  };
  std::vector<Section> sections;
  int64_t total = 0;
};

class DocumentPacking {
public:
  enum class Sharing { None, BestFit };

  DocumentPacking(const IndexView &index, std::span<const HeldOutSplit::Range> ranges, int64_t sequenceLength,
                  Sharing sharing);

  /// What a packed window looks like; kept by whoever asks, to allocate nothing once it is warm.
  struct Scratch {
    std::vector<SamplePiece> documents, rests;
    std::vector<int32_t> order, sampleOf;
    std::vector<std::pair<int64_t, int32_t>> open; ///< tokens left in a sample, and its number
  };

  int64_t samples() const { return samplesBefore.back(); }
  /// Appends the pieces of sample i, 0 <= i < samples(), to `pieces`.
  void sample(const IndexView &index, int64_t i, Scratch &scratch, std::vector<SamplePiece> &pieces) const;

private:
  /// Fills the scratch; returns the number of samples.
  int64_t pack(const IndexView &index, int64_t window, Scratch &scratch) const;
  int64_t shareByBestFit(Scratch &scratch) const;

  SplitDocuments documents;
  int64_t sequenceLength;
  Sharing sharing;
  int64_t windows = 0;
  std::vector<int64_t> samplesBefore; ///< of each window, and all
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_DOCUMENTPACKING_H
