//===- BytesTokenizer.h - One token per byte ------------------------------===//
//
// Ids 0 to 255 are the bytes, 256 ends a document; the vocabulary is 257. It needs no training and no file,
// and every text, valid UTF-8 or not, round-trips.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_BYTESTOKENIZER_H
#define WEFT_RUNTIME_TOKENIZER_BYTESTOKENIZER_H

#include "runtime/tokenizer/Tokenizer.h"

namespace weft {

class BytesTokenizer final : public Tokenizer {
public:
  static constexpr std::string_view kindName = "bytes";

  std::string kind() const override { return std::string(kindName); }
  int32_t vocabularySize() const override { return 257; }
  int32_t endOfDocument() const override { return 256; }
  using Tokenizer::encode;
  absl::Status encode(std::string_view text, const EncodeOptions &, std::vector<int32_t> &ids,
                      Scratch &) const override;
  size_t independentPrefix(std::string_view text) const override { return text.size(); }
  absl::StatusOr<std::string_view> bytesOf(int32_t id) const override;
  std::string payload() const override { return ""; }
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_BYTESTOKENIZER_H
