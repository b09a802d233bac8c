//===- Sampling.h - From logits to a token ---------------------------------===//
//
// Temperature, then top-k, then top-p, each on what the one before it left: the order of Hugging Face
// transformers. Ties are broken by token id, so a token is a function of the logits and of one number.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_SAMPLING_H
#define WEFT_RUNTIME_TRAIN_SAMPLING_H

#include "runtime/config/Config.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// A token that may be sampled.
struct TokenChance {
  int32_t token;
  double probability;
};

/// The tokens that may be sampled, the likeliest first; their probabilities sum up to 1. Of softmax(logits /
/// temperature) the `topK` likeliest are kept (0: all), and of these the fewest likeliest that have together
/// at least the share `topP`, but one. A temperature of 0 keeps the likeliest alone.
std::vector<TokenChance> tokenChances(std::span<const float> logits, const GenerateConfig &options);

/// The token that `uniform` in [0, 1) picks.
int32_t sampleToken(std::span<const float> logits, const GenerateConfig &options, double uniform);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_SAMPLING_H
