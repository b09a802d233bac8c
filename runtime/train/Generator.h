//===- Generator.h - Text from a trained model ----------------------------===//
//
// One token at a time, each from the logits behind the text so far. The text is a function of the weights,
// the prompt and the options: the i-th random number is that of (seed, i), and ties are broken by token id.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_GENERATOR_H
#define WEFT_RUNTIME_TRAIN_GENERATOR_H

#include "runtime/comm/Communicator.h"
#include "runtime/config/Config.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/train/TextWindow.h"

#include <functional>
#include <string_view>

namespace weft {

/// Who listens while a text is written.
struct TextListener {
  std::function<void(std::string_view)> text = [](std::string_view) {};
  std::function<bool()> stopRequested = [] { return false; }; ///< asked before each token
};

struct GeneratedText {
  int64_t promptTokens = 0;
  int64_t tokens = 0;       ///< sampled, the end of a document among them
  double promptSeconds = 0; ///< until the first was
  double secondsBehind = 0; ///< for all others
};

/// Samples up to options.maxTokens tokens behind options.prompt, and hands out their text as it comes; the
/// prompt itself is not handed out. Ends early at the end of a document. Tokens that the tokenizer does not
/// know are never sampled. All ranks of the program call it and sample the same. CANCELLED (exit code
/// stopped) on all of them when any was asked to stop.
absl::StatusOr<GeneratedText> generateText(TextWindow &window, Communicator &communicator,
                                           const Tokenizer &tokenizer, const GenerateConfig &options,
                                           const TextListener &listener);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_GENERATOR_H
