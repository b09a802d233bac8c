//===- TokenizerFuzzer.cpp - Any bytes as a tokenizer's file --------------===//
//
// The file comes first, a text after the last NUL byte. Whatever comes, reading ends with a tokenizer or an
// error that has a message; and what is accepted keeps the promises of Tokenizer: ids lie in the vocabulary,
// a text is encoded the same way twice, token by token decoding gives the whole, and the blob gives an equal
// tokenizer.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/StreamingDecoder.h"
#include "runtime/tokenizer/TokenizerFile.h"
#include "tests/fuzz/Require.h"

using namespace weft;

namespace {
void checkPromises(const Tokenizer &tokenizer, std::string_view text, const EncodeOptions &options) {
  absl::StatusOr<std::vector<int32_t>> ids = tokenizer.encode(text, options);
  if (!ids.ok()) {
    require(!ids.status().message().empty(), "an error without a message");
    return;
  }
  for (int32_t id : *ids)
    require(id >= 0 && id < tokenizer.vocabularySize(), "an id outside of the vocabulary");
  require(*tokenizer.encode(text, options) == *ids, "a text has two encodings");
  absl::StatusOr<std::string> whole = tokenizer.decode(*ids);
  require(whole.ok(), "ids of a text do not decode");
  StreamingDecoder decoder(tokenizer);
  std::string streamed;
  for (int32_t id : *ids)
    streamed += *decoder.feed(id);
  require(streamed + decoder.finish() == *whole, "token by token another text comes out");
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view input(reinterpret_cast<const char *>(data), size);
  const size_t end = input.rfind('\0');
  const bool hasText = end != std::string_view::npos;
  // SentencePiece models are read by a library.
  if (input.starts_with('\n'))
    return 0;
  TokenizerFile file{"fuzz", std::string(input.substr(0, end)), "", {}, "</s>"};
  if (isTiktoken(file.contents)) {
    file.pattern = "cl100k";
    file.specialTokens = {{"</s>", 1000000}};
  }
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = readTokenizerFile(std::move(file));
  if (!tokenizer.ok()) {
    require(!tokenizer.status().message().empty(), "an error without a message");
    return 0;
  }
  const std::string_view text = hasText ? input.substr(end + 1) : std::string_view();
  checkPromises(**tokenizer, text, {});
  checkPromises(**tokenizer, text, {.readsSpecialTokens = true});
  absl::StatusOr<std::unique_ptr<Tokenizer>> loaded = loadTokenizer((*tokenizer)->serialize());
  require(loaded.ok() && (*loaded)->checksum() == (*tokenizer)->checksum(),
          "the blob gives another tokenizer");
  return 0;
}
