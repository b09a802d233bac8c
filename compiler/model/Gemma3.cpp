//===- Gemma3.cpp - The text models of the Gemma 3 family (arXiv:2503.19786) ----===//
#include "compiler/model/Families.h"

#include <cmath>

using namespace mlir;

namespace weft {

Value buildGemma3(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value tokens) {
  const Norm norm{.epsilon = config.rmsNormEps, .offset = 1.0};
  Value x = b.scale(embedding(b, config, tokens), std::sqrt(static_cast<double>(config.hiddenSize)));
  return decoder(b, config, norm, x, [&](int64_t layer, Value x) {
    const AttentionOptions attention{.inputBias = config.attentionBias,
                                     .outputBias = config.attentionBias,
                                     .queryKeyNorm = QueryKeyNorm::PerHead,
                                     .norm = norm,
                                     .scale = 1.0 / std::sqrt(config.queryPreAttnScalar),
                                     .window = config.layerWindow(layer),
                                     .ownFrequencies = config.isSliding(layer)};
    return sandwichLayer(b, config, norm, sequence, attention, x);
  });
}

} // namespace weft
