//===- SentencePieceTokenizer.h - The tokenizer of a SentencePiece model --===//
//
// Encoding is the library's. Control symbols such as <s> have no text: none is read from a text or added to
// it, and they decode to nothing. Malformed bytes are U+FFFD, as Python's errors="replace" has it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_SENTENCEPIECETOKENIZER_H
#define WEFT_RUNTIME_TOKENIZER_SENTENCEPIECETOKENIZER_H

#include "runtime/tokenizer/SentencePieceModel.h"
#include "runtime/tokenizer/TokenizerFile.h"

#include <string>
#include <vector>

namespace weft {

class SentencePieceTokenizer final : public Tokenizer {
public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> create(TokenizerFile file);

  std::string kind() const override { return std::string(TokenizerFile::kindName); }
  int32_t vocabularySize() const override { return static_cast<int32_t>(texts.size()); }
  int32_t endOfDocument() const override { return endId; }
  std::string payload() const override { return file.payload(); }

  using Tokenizer::encode;
  absl::Status encode(std::string_view text, const EncodeOptions &options, std::vector<int32_t> &ids,
                      Tokenizer::Scratch &scratch) const override;
  size_t independentPrefix(std::string_view) const override { return 0; }
  absl::StatusOr<std::string_view> bytesOf(int32_t id) const override;
  absl::StatusOr<std::string_view> firstBytesOf(int32_t id) const override;

private:
  SentencePieceTokenizer(TokenizerFile file, SentencePieceModel model, int32_t endId);

  TokenizerFile file;
  SentencePieceModel model;
  int32_t endId;
  std::vector<std::string> texts;
  std::vector<std::string> firstTexts;
};

/// Whether the file begins like a serialized list of pieces.
bool isSentencePiece(std::string_view contents);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_SENTENCEPIECETOKENIZER_H
