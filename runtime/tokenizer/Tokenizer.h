//===- Tokenizer.h - Text to token ids and back ---------------------------===//
//
// What data preparation, the trainer and generation ask of a tokenizer. Any bytes are text. A tokenizer
// travels inside prepared data (its checksum) and inside executables (its blob), so that data, checkpoint and
// program of one run cannot silently use different ones. Implementations are immutable after construction:
// one object serves all threads, each with a scratch of its own.
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

struct Config;
struct TokenizerConfig;

/// What a text becomes besides the ids of its own bytes. The default is for data: text is text.
struct EncodeOptions {
  /// The names of special tokens within the text become these tokens.
  bool readsSpecialTokens = false;
  /// The tokens that the tokenizer's file puts around a text (such as one that begins it) are added.
  bool addsSpecialTokens = false;
};

class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  /// Which reader a blob needs: "bytes", or "file" for one that has a file.
  virtual std::string kind() const = 0;
  /// Ids are 0 .. vocabularySize() - 1.
  virtual int32_t vocabularySize() const = 0;
  /// The id that closes each document. It decodes to no bytes, and no text encodes to it.
  virtual int32_t endOfDocument() const = 0;

  /// What one thread needs to encode fast: buffers, pieces met lately. An implementation derives its own.
  struct Scratch {
    virtual ~Scratch() = default;
  };
  virtual std::unique_ptr<Scratch> makeScratch() const { return std::make_unique<Scratch>(); }

  /// Appends the ids of `text`. `scratch` is what makeScratch() of this tokenizer gave. It fails only where a
  /// pattern of the tokenizer's file takes unreasonable time or memory on this text.
  virtual absl::Status encode(std::string_view text, const EncodeOptions &options, std::vector<int32_t> &ids,
                              Scratch &scratch) const = 0;
  /// The same for a text here and there.
  absl::StatusOr<std::vector<int32_t>> encode(std::string_view text, const EncodeOptions &options = {}) const;

  /// The length of a prefix of `text` that may be encoded alone, whatever follows, and whose rest then begins
  /// a new call. It bounds the memory that a long document needs. 0 when the whole of `text` must wait for
  /// more: then ask again when it has doubled, so that the time stays linear.
  virtual size_t independentPrefix(std::string_view text) const = 0;

  /// The bytes that one id adds to a text, valid as long as the tokenizer. Not found when `id` is outside of
  /// the vocabulary.
  virtual absl::StatusOr<std::string_view> bytesOf(int32_t id) const = 0;
  /// The same where no id before it had any bytes: some decoders drop a space there.
  virtual absl::StatusOr<std::string_view> firstBytesOf(int32_t id) const { return bytesOf(id); }

  /// All that distinguishes this tokenizer from another of its kind, without the kind.
  virtual std::string payload() const = 0;

  /// The one or the other, for a decoder that goes through a text; `isFirst` is true before its first id.
  absl::StatusOr<std::string_view> nextBytesOf(int32_t id, bool &isFirst) const;

  /// The bytes of `ids`, one after the other; names the position of an id outside of the vocabulary.
  absl::StatusOr<std::string> decode(std::span<const int32_t> ids) const;

  /// Kind and payload; loadTokenizer() gives an equal tokenizer.
  std::string serialize() const;

  /// xxh64 of serialize(): equal tokenizers, equal checksums.
  uint64_t checksum() const;
};

/// The tokenizer of a run file: reads `tokenizer.file` if it names one.
absl::StatusOr<std::unique_ptr<Tokenizer>> createTokenizer(const TokenizerConfig &config);

/// Refuses a tokenizer with more ids than the model has rows; a model that is a program has its own.
absl::Status checkVocabulary(const Tokenizer &tokenizer, const Config &config);

/// The tokenizer of a blob that serialize() wrote.
absl::StatusOr<std::unique_ptr<Tokenizer>> loadTokenizer(std::string_view blob);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_TOKENIZER_H
