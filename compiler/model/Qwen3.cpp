//===- Qwen3.cpp - The Qwen 3 family (arXiv:2505.09388) -------------------------===//
#include "compiler/model/Families.h"

using namespace mlir;

namespace weft {

Value buildQwen3(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value tokens) {
  const Norm norm{config.rmsNormEps};
  return decoder(b, config, norm, embedding(b, config, tokens), [&](int64_t layer, Value x) {
    const AttentionOptions attention{.inputBias = config.attentionBias,
                                     .outputBias = config.attentionBias,
                                     .queryKeyNorm = QueryKeyNorm::PerHead,
                                     .norm = norm,
                                     .window = config.layerWindow(layer)};
    return preNormLayer(b, config, sequence, attention, x);
  });
}

} // namespace weft
