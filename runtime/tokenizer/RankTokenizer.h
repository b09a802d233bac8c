//===- RankTokenizer.h - The tokenizer of a list of ranked tokens ---------===//
//
// What tiktoken does: text is split by one pattern, each piece is encoded by ranks, special tokens have ids
// of their own. Decoding gives the bytes of a text back, whatever they are.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_RANKTOKENIZER_H
#define WEFT_RUNTIME_TOKENIZER_RANKTOKENIZER_H

#include "runtime/tokenizer/BytePairEncoding.h"
#include "runtime/tokenizer/SpecialTokens.h"
#include "runtime/tokenizer/TokenizerFile.h"

namespace weft {

class RankTokenizer final : public Tokenizer {
public:
  /// tokens[i] has rank and id i. The file says which special tokens there are, and ends documents.
  static absl::StatusOr<std::unique_ptr<Tokenizer>>
  create(TokenizerFile file, std::vector<std::string> tokens, std::string pattern);

  std::string kind() const override { return std::string(TokenizerFile::kindName); }
  int32_t vocabularySize() const override { return vocabulary; }
  int32_t endOfDocument() const override { return endId; }
  std::string payload() const override { return file.payload(); }

  std::unique_ptr<Tokenizer::Scratch> makeScratch() const override;
  using Tokenizer::encode;
  absl::Status encode(std::string_view text, const EncodeOptions &options, std::vector<int32_t> &ids,
                      Tokenizer::Scratch &scratch) const override;
  size_t independentPrefix(std::string_view text) const override { return splitter->independentPrefix(text); }
  absl::StatusOr<std::string_view> bytesOf(int32_t id) const override;

private:
  RankTokenizer(TokenizerFile file, BytePairEncoding encoding, std::unique_ptr<Splitter> splitter,
                SpecialTokens specialTokens, int32_t endId);

  TokenizerFile file;
  BytePairEncoding encoding;
  std::unique_ptr<Splitter> splitter;
  SpecialTokens specialTokens;
  int32_t endId;
  int32_t vocabulary;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_RANKTOKENIZER_H
