//===- StreamingDecoder.h - Text of ids that come one by one --------------===//
//
// Generation shows text while tokens arrive, and a character of UTF-8 may lie across several tokens. The
// decoder hands out bytes as soon as they end a character, or can no longer be part of one: all that it
// handed out, joined, is exactly decode() of the ids.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_STREAMINGDECODER_H
#define WEFT_RUNTIME_TOKENIZER_STREAMINGDECODER_H

#include "runtime/tokenizer/Tokenizer.h"

namespace weft {

class StreamingDecoder {
public:
  /// `tokenizer` must outlive the decoder.
  explicit StreamingDecoder(const Tokenizer &tokenizer) : tokenizer(tokenizer) {}

  /// The bytes that `id` completes; held back are at most the 3 first bytes of an unfinished character.
  absl::StatusOr<std::string> feed(int32_t id);

  /// What is still held back, as it is: the text ended inside a character.
  std::string finish();

private:
  const Tokenizer &tokenizer;
  std::string pending;
  bool isFirst = true; ///< no id had any bytes
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_STREAMINGDECODER_H
