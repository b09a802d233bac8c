//===- TokenInputs.h - Inputs with a number for each token ----------------===//
//
// What a program may ask for of the samples that it works on, i32 [samples, tokens], and where the data gives
// it: in a sample, and in a microbatch of them.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_TOKENINPUTS_H
#define WEFT_RUNTIME_TRAIN_TOKENINPUTS_H

#include "runtime/data/DataLoader.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace weft {

struct TokenInput {
  std::string_view name;
  std::span<int32_t> Sample::*ofSample;
  std::span<int32_t> Microbatch::*ofMicrobatch;
};

inline constexpr std::array<TokenInput, 4> kTokenInputs = {{
    {"tokens", &Sample::tokens, &Microbatch::tokens},
    {"targets", &Sample::targets, &Microbatch::targets},
    {"segments", &Sample::segments, &Microbatch::segments},
    {"positions", &Sample::positions, &Microbatch::positions},
}};

/// The number of the input of this name, or that of all.
inline size_t tokenInputNamed(std::string_view name) {
  return static_cast<size_t>(std::find_if(kTokenInputs.begin(), kTokenInputs.end(),
                                          [&](const TokenInput &input) { return input.name == name; }) -
                             kTokenInputs.begin());
}

/// Whole samples, by number of the input.
using WholeSamples = std::array<std::vector<int32_t>, kTokenInputs.size()>;

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_TOKENINPUTS_H
