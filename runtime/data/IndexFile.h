//===- IndexFile.h - The .idx half of a Megatron indexed dataset ----------===//
//
// Layout (little endian, nothing is aligned): magic "MMIDIDX\0\0" (9 bytes), version u64 = 1, token type u8,
// sequence count n u64, document index count m u64, then n lengths i32 (tokens), n pointers i64 (byte offsets
// into the .bin), m document indices i64 (first sequence of each document, and n at the end). Reading checks
// every number against every other, and against the size of the .bin, so that whoever holds an IndexView can
// use it without checks.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_INDEXFILE_H
#define WEFT_RUNTIME_DATA_INDEXFILE_H

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Integer types of stored tokens, with Megatron's codes.
enum class TokenType : uint8_t { U8 = 1, I8 = 2, I16 = 3, I32 = 4, I64 = 5, U16 = 8 };

/// Bytes of one token.
int64_t byteSize(TokenType type);
std::string_view name(TokenType type);

/// The type that Megatron chooses for ids below `vocabularySize`: u16 while it is below 65,500, else i32.
TokenType tokenTypeFor(int32_t vocabularySize);

/// The checked contents of an .idx file, over its bytes, which must outlive the view.
class IndexView {
public:
  TokenType tokenType() const { return type; }
  int64_t sequences() const { return sequenceCount; }
  /// Documents: one less than the document indices in the file.
  int64_t documents() const { return documentCount; }
  int64_t tokens() const { return tokenCount; }

  /// Tokens of sequence i, and the number of its first token, counted over the whole dataset.
  int64_t sequenceLength(int64_t i) const { return load<int32_t>(lengths, i); }
  int64_t sequenceStart(int64_t i) const;
  /// First sequence of document d; documentBegin(documents()) is sequences().
  int64_t documentBegin(int64_t d) const { return load<int64_t>(documentIndices, d); }
  /// The number of the first token of document d; documentStart(documents()) is tokens().
  int64_t documentStart(int64_t d) const;
  /// The document that holds token `token` of the dataset, 0 <= token < tokens().
  int64_t documentOfToken(int64_t token) const;

private:
  friend absl::StatusOr<IndexView> parseIndex(std::span<const std::byte>, int64_t, const std::string &);
  template <typename T> static T load(const std::byte *from, int64_t i) {
    T value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
  }

  TokenType type = TokenType::U16;
  int64_t sequenceCount = 0;
  int64_t documentCount = 0;
  int64_t tokenCount = 0;
  const std::byte *lengths = nullptr;
  const std::byte *pointers = nullptr;
  const std::byte *documentIndices = nullptr;
};

/// Reads and checks the bytes of index file `file` (a name for messages); `binBytes` is the size of its .bin.
/// Refused are, by name: another magic, version or token type, a size that does not follow from the counts,
/// negative lengths, sequences that overlap, leave a gap or end beyond the .bin, and document indices that do
/// not ascend from 0 to n.
absl::StatusOr<IndexView> parseIndex(std::span<const std::byte> bytes, int64_t binBytes,
                                     const std::string &file);

/// The bytes of an index of contiguous sequences. `documentBegins` holds the first sequence of each document.
std::vector<std::byte> indexBytes(TokenType type, std::span<const int32_t> sequenceLengths,
                                  std::span<const int64_t> documentBegins);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_INDEXFILE_H
