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
#include "runtime/data/SequenceIndex.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// Writes `tokens` as `type` to `out`, which has room for them. Each must be representable in it.
void narrowTokens(TokenType type, std::span<const int32_t> tokens, std::byte *out);

class IndexedDatasetWriter {
public:
  /// A document longer than `sequenceLimit` tokens is stored as several sequences.
  static absl::StatusOr<IndexedDatasetWriter>
  create(const std::string &prefix, TokenType type,
         int32_t sequenceLimit = std::numeric_limits<int32_t>::max());

  /// Goes on in `bin`, the PREFIX.bin of AtomicFile::resume, whose tokens `index` describes.
  static absl::StatusOr<IndexedDatasetWriter> resume(const std::string &prefix, TokenType type,
                                                     AtomicFile bin, SequenceIndex index);

  /// Appends tokens to the document being written. Each must be representable in the token type.
  absl::Status appendTokens(std::span<const int32_t> tokens);
  /// Closes the document being written; the next token begins another one.
  void endDocument() { index.endDocument(); }

  /// Appends tokens that are stored already as the token type says, and their documents as in
  /// SequenceIndex::add().
  absl::Status appendStored(std::span<const std::byte> stored, std::span<const int64_t> documentTokens,
                            int64_t openTokens);

  /// All that was appended survives the death of this process, in PREFIX.bin.tmp.
  absl::Status flush() { return bin.flush(); }
  /// Whether PREFIX.bin.tmp outlives this object.
  void keep(bool kept) { bin.keep(kept); }
  const AtomicFile &binFile() const { return bin; }

  /// Writes the index and puts both files in place.
  absl::Status commit();

  int64_t tokens() const { return index.tokens(); }
  int64_t documents() const { return index.documents(); }

private:
  IndexedDatasetWriter(std::string prefix, TokenType type, AtomicFile bin, AtomicFile idx,
                       SequenceIndex index);

  std::string prefix;
  TokenType type;
  AtomicFile bin;
  AtomicFile idx;
  SequenceIndex index;
  std::vector<std::byte> narrowed;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_INDEXEDDATASETWRITER_H
