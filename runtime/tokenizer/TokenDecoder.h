//===- TokenDecoder.h - The decoder of a tokenizer.json -------------------===//
//
// A decoder is a chain of stages over the spellings of tokens. Here the chain runs once for each token, when
// the file is read: once as the first of a text and once behind others. Decoding then is joining, and the
// streamed text is the whole text by construction. Bytes that are no UTF-8 stay bytes, where the reference
// writes U+FFFD.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_TOKENDECODER_H
#define WEFT_RUNTIME_TOKENIZER_TOKENDECODER_H

#include "runtime/tokenizer/JsonFields.h"
#include "runtime/tokenizer/Regex.h"

#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <vector>

namespace weft {

class TokenDecoder {
public:
  /// Without a decoder tokens are joined by spaces.
  TokenDecoder();
  static absl::StatusOr<TokenDecoder> create(const JsonFields &fields);

  ~TokenDecoder();
  TokenDecoder(TokenDecoder &&) noexcept;
  TokenDecoder &operator=(TokenDecoder &&) noexcept;

  /// What `token` adds to a text.
  absl::StatusOr<std::string> decode(std::string token, bool isFirst, Regex::Scratch &scratch) const;

  class Stage;

private:
  std::vector<std::unique_ptr<Stage>> stages;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_TOKENDECODER_H
