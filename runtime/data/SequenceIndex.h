//===- SequenceIndex.h - Which sequences and documents a dataset has ------===//
//
// Grows with the tokens that are written and becomes the .idx at the end. The .idx counts the tokens of a
// sequence in 31 bits, so a longer document is several sequences. 4 bytes a sequence and 8 a document stay in
// memory; the tokens themselves are none of its business.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_SEQUENCEINDEX_H
#define WEFT_RUNTIME_DATA_SEQUENCEINDEX_H

#include "runtime/data/IndexFile.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft {

class SequenceIndex {
public:
  /// No sequence gets more than `sequenceLimit` tokens.
  explicit SequenceIndex(int32_t sequenceLimit = std::numeric_limits<int32_t>::max())
      : sequenceLimit(sequenceLimit) {}

  /// `count` more tokens of the document being written; begins one unless one is open.
  void addTokens(int64_t count);
  /// Closes the document being written, if any.
  void endDocument();

  /// Tokens that close the document being written and further ones, `documentTokens` each, and behind them
  /// `openTokens` of one that stays open.
  void add(std::span<const int64_t> documentTokens, int64_t openTokens);

  int64_t tokens() const { return tokenCount; }
  /// Documents, with the one being written.
  int64_t documents() const { return static_cast<int64_t>(documentBegins.size()); }

  /// The .idx of what was added; every document is closed.
  std::vector<std::byte> bytes(TokenType type) const {
    return indexBytes(type, sequenceLengths, documentBegins);
  }

private:
  int32_t sequenceLimit;
  std::vector<int32_t> sequenceLengths;
  std::vector<int64_t> documentBegins;
  int64_t tokenCount = 0;
  int64_t openSequenceTokens = 0;
  bool inDocument = false;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_SEQUENCEINDEX_H
