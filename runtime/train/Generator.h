//===- Generator.h - Text from a trained model ----------------------------===//
//
// One token at a time from the program `generate`. The text is a function of the weights, the prompt and the
// options: the i-th random number is that of (seed, i), and ties are broken by token id.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_GENERATOR_H
#define WEFT_RUNTIME_TRAIN_GENERATOR_H

#include "runtime/config/Config.h"
#include "runtime/exec/Executor.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace weft {

/// The tokens that the program `generate` of a job sees at once. An error (exit code config) where there is
/// no such program, or no part of it reads tokens and position.
absl::StatusOr<int64_t> textLengthOf(const std::vector<Executable> &parts);

/// Samples up to options.maxTokens tokens behind options.prompt, and hands out their text as it comes; the
/// prompt itself is not handed out. Ends early at the end of a document. A text longer than the program's
/// sequence (`length`: textLengthOf) is continued from its last tokens. Tokens that the tokenizer does not
/// know are never sampled. `rank`: of the executable's mesh, whose ranks may each take a part of the text,
/// or, of a pipeline, none of it.
absl::Status generateText(Executor &executor, int64_t rank, int64_t length, const Tokenizer &tokenizer,
                          const GenerateConfig &options, const std::function<void(std::string_view)> &text);

/// The token that `uniform` in [0, 1) picks: of the `topK` likeliest (0: all), by softmax(logits /
/// temperature); the likeliest where the temperature is 0.
int32_t sampleToken(std::span<const float> logits, double temperature, int64_t topK, double uniform);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_GENERATOR_H
