//===- CountPieces.h - The pieces of a corpus -----------------------------===//
//
// Reads text and JSONL as data preparation does, a document at a time, and counts the pieces that a splitter
// cuts them into: what a vocabulary is learned from.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_COUNTPIECES_H
#define WEFT_RUNTIME_DATA_COUNTPIECES_H

#include "runtime/tokenizer/BytePairTrainer.h"

#include "absl/status/status.h"

#include <string>
#include <vector>

namespace weft {

struct CountedTexts {
  int64_t files = 0;
  int64_t bytes = 0; ///< of text
};

/// `jsonKey`: the key of the text in a JSONL line.
absl::StatusOr<CountedTexts> countPieces(const std::vector<std::string> &paths, const std::string &jsonKey,
                                         const Splitter &splitter, PieceCounts &counts);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_COUNTPIECES_H
