//===- Gemma2.cpp - The Gemma 2 family (arXiv:2408.00118) -----------------------===//
#include "compiler/model/Families.h"

#include <cmath>

using namespace mlir;

namespace weft {

Value buildGemma2(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value tokens) {
  const Norm norm{.epsilon = config.rmsNormEps, .offset = 1.0};
  Value x = b.scale(embedding(b, config, tokens), std::sqrt(static_cast<double>(config.hiddenSize)));
  return decoder(b, config, norm, x, [&](int64_t layer, Value x) {
    const AttentionOptions attention{.inputBias = config.attentionBias,
                                     .outputBias = config.attentionBias,
                                     .scale = 1.0 / std::sqrt(config.queryPreAttnScalar),
                                     .softcap = config.attnLogitSoftcapping,
                                     .window = config.layerWindow(layer)};
    return sandwichLayer(b, config, norm, sequence, attention, x);
  });
}

} // namespace weft
