//===- HuggingFaceTokenizer.h - The tokenizer of a tokenizer.json ---------===//
//
// The pipeline of Hugging Face's `tokenizers`: added tokens out of the text, normalize, normalized added
// tokens out of it, pre-tokenize, encode each piece, put special tokens around. Ids are those of the
// reference for every well-formed text. Malformed bytes stay bytes where the vocabulary is of bytes and
// nothing normalizes; elsewhere they are U+FFFD, as Python's errors="replace" has it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_HUGGINGFACETOKENIZER_H
#define WEFT_RUNTIME_TOKENIZER_HUGGINGFACETOKENIZER_H

#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/BytePairEncoding.h"
#include "runtime/tokenizer/Normalizer.h"
#include "runtime/tokenizer/PostProcessor.h"
#include "runtime/tokenizer/PreTokenizer.h"
#include "runtime/tokenizer/TokenizerFile.h"

#include "absl/container/flat_hash_map.h"

#include <memory>
#include <string>
#include <vector>

namespace weft {

class HuggingFaceTokenizer final : public Tokenizer {
public:
  struct Parts {
    TokenizerFile file;
    BytePairEncoding model;
    /// Null: none.
    std::unique_ptr<Normalizer> normalizer;
    PreTokenizers preTokenizers;
    AddedTokens verbatimTokens;
    AddedTokens normalizedTokens;
    PostProcessor postProcessor;
    /// What each id adds to a text; an id without a token: absent.
    std::vector<std::optional<std::string>> texts;
    /// The same at the begin of a text, where it differs.
    absl::flat_hash_map<int32_t, std::string> firstTexts;
    int32_t endOfDocument;
  };

  explicit HuggingFaceTokenizer(Parts parts);

  std::string kind() const override { return std::string(TokenizerFile::kindName); }
  int32_t vocabularySize() const override { return static_cast<int32_t>(parts.texts.size()); }
  int32_t endOfDocument() const override { return parts.endOfDocument; }
  std::string payload() const override { return parts.file.payload(); }

  std::unique_ptr<Tokenizer::Scratch> makeScratch() const override;
  using Tokenizer::encode;
  absl::Status encode(std::string_view text, const EncodeOptions &options, std::vector<int32_t> &ids,
                      Tokenizer::Scratch &scratch) const override;
  size_t independentPrefix(std::string_view text) const override;
  absl::StatusOr<std::string_view> bytesOf(int32_t id) const override;
  absl::StatusOr<std::string_view> firstBytesOf(int32_t id) const override;

private:
  struct Scratch;

  absl::Status encodeBetween(TextPiece piece, bool readsSpecial, std::vector<int32_t> &ids,
                             Scratch &scratch) const;
  absl::Status encodeNormalized(TextPiece piece, bool readsSpecial, std::vector<int32_t> &ids,
                                Scratch &scratch) const;
  absl::Status encodePiece(TextPiece piece, std::vector<int32_t> &ids, Scratch &scratch) const;

  Parts parts;
  /// Does all that the pre-tokenizers do, faster; null when no matcher is written for them.
  std::unique_ptr<Splitter> splitter;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_HUGGINGFACETOKENIZER_H
