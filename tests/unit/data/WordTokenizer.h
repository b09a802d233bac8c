//===- WordTokenizer.h - A tokenizer that may not be cut inside a word ----===//
//
// The smallest tokenizer whose ids depend on where a text is cut: the id of a word, with the spaces behind
// it, is a hash of it. A cut inside of a word shows at once.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_DATA_WORDTOKENIZER_H
#define WEFT_TESTS_UNIT_DATA_WORDTOKENIZER_H

#include "runtime/tokenizer/Tokenizer.h"

#include <xxhash.h>

namespace weft {

class WordTokenizer final : public Tokenizer {
public:
  explicit WordTokenizer(int32_t vocabulary = 50'000) : vocabulary(vocabulary) {}

  std::string kind() const override { return "words"; }
  int32_t vocabularySize() const override { return vocabulary; }
  int32_t endOfDocument() const override { return vocabulary - 1; }
  using Tokenizer::encode;
  absl::Status encode(std::string_view text, const EncodeOptions &, std::vector<int32_t> &ids,
                      Scratch &) const override {
    while (!text.empty()) {
      size_t length =
          std::min(text.find_first_not_of(' ', std::min(text.find(' '), text.size())), text.size());
      uint64_t hash = XXH64(text.data(), length, 0);
      ids.push_back(static_cast<int32_t>(hash % static_cast<uint64_t>(vocabulary - 1)));
      text.remove_prefix(length);
    }
    return absl::OkStatus();
  }
  size_t independentPrefix(std::string_view text) const override {
    size_t letter = text.find_last_not_of(' ');
    size_t space = letter == std::string_view::npos ? letter : text.rfind(' ', letter);
    return space == std::string_view::npos ? 0 : space + 1;
  }
  absl::StatusOr<std::string_view> bytesOf(int32_t) const override { return std::string_view(); }
  std::string payload() const override { return std::to_string(vocabulary); }

private:
  int32_t vocabulary;
};

} // namespace weft

#endif // WEFT_TESTS_UNIT_DATA_WORDTOKENIZER_H
