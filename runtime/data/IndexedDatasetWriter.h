//===- IndexedDatasetWriter.h - Writes PREFIX.bin and PREFIX.idx ----------===//
//
// The pair appears whole or not at all: both are written under temporary names, an old index is removed
// first, the .bin takes its name, and the .idx last. So an index always belongs to the tokens beside it, at
// any kill point.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_INDEXEDDATASETWRITER_H
#define WEFT_RUNTIME_DATA_INDEXEDDATASETWRITER_H

#include "runtime/data/AtomicFile.h"
#include "runtime/data/IndexFile.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace weft {

class IndexedDatasetWriter {
public:
  /// The .idx counts the tokens of a sequence in 31 bits: a longer document is stored as several sequences of
  /// at most `sequenceLimit` tokens.
  static absl::StatusOr<IndexedDatasetWriter>
  create(const std::string &prefix, TokenType type,
         int32_t sequenceLimit = std::numeric_limits<int32_t>::max());

  /// Appends tokens to the document being written. Each must be representable in the token type.
  absl::Status appendTokens(std::span<const int32_t> tokens);
  /// Closes the document being written; the next token begins another one.
  void endDocument();

  /// Writes the index and puts both files in place.
  absl::Status commit();

  int64_t tokens() const { return tokenCount; }
  int64_t documents() const { return static_cast<int64_t>(documentBegins.size()); }

private:
  IndexedDatasetWriter(std::string prefix, TokenType type, int32_t sequenceLimit, AtomicFile bin,
                       AtomicFile idx);
  absl::Status appendToBin(std::span<const int32_t> tokens);

  std::string prefix;
  TokenType type;
  int32_t sequenceLimit;
  AtomicFile bin;
  AtomicFile idx;
  std::vector<std::byte> narrowed;
  std::vector<int32_t> sequenceLengths;
  std::vector<int64_t> documentBegins;
  int64_t tokenCount = 0;
  int64_t openSequenceTokens = 0;
  bool inDocument = false;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_INDEXEDDATASETWRITER_H
