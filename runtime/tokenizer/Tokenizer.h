//===- Tokenizer.h - Text to token ids and back ---------------------------===//
//
// What data preparation, the trainer and generation ask of a tokenizer. Any bytes are text: encoding never
// fails, and decoding the ids of a text gives its bytes back. A tokenizer travels inside prepared data (its
// checksum) and inside executables (its blob), so that data, checkpoint and program of one run cannot
// silently use different ones. Implementations are immutable after construction: one object serves all
// threads.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_TOKENIZER_H
#define WEFT_RUNTIME_TOKENIZER_TOKENIZER_H

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  /// The `tokenizer.kind` of the run file.
  virtual std::string kind() const = 0;
  /// Ids are 0 .. vocabularySize() - 1.
  virtual int32_t vocabularySize() const = 0;
  /// The id that closes each document. It decodes to no bytes, and no text encodes to it.
  virtual int32_t endOfDocument() const = 0;

  /// Appends the ids of `text`.
  virtual void encode(std::string_view text, std::vector<int32_t> &ids) const = 0;

  /// The length of a prefix of `text` that may be encoded alone, whatever follows: the rest then begins a new
  /// call. It bounds the memory that a long document needs. 0 when the whole of `text` must wait for more.
  virtual size_t independentPrefix(std::string_view text) const = 0;

  /// The bytes of one id, valid as long as the tokenizer. Not found when `id` is outside of the vocabulary.
  virtual absl::StatusOr<std::string_view> bytesOf(int32_t id) const = 0;

  /// All that distinguishes this tokenizer from another of its kind, without the kind.
  virtual std::string payload() const = 0;

  /// The bytes of `ids`, one after the other; names the position of an id outside of the vocabulary.
  absl::StatusOr<std::string> decode(std::span<const int32_t> ids) const;

  /// Kind and payload; loadTokenizer() gives an equal tokenizer.
  std::string serialize() const;

  /// xxh64 of serialize(): equal tokenizers, equal checksums.
  uint64_t checksum() const;
};

/// The tokenizer of `kind`; names the kinds that exist when there is no such one.
absl::StatusOr<std::unique_ptr<Tokenizer>> createTokenizer(std::string_view kind);

/// The tokenizer of a blob that serialize() wrote.
absl::StatusOr<std::unique_ptr<Tokenizer>> loadTokenizer(std::string_view blob);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_TOKENIZER_H
