//===- Qwen2.cpp - The Qwen 2 and 2.5 family (arXiv:2412.15115) -----------------===//
#include "compiler/model/Families.h"

using namespace mlir;

namespace weft {

Value buildQwen2(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value tokens) {
  return decoder(b, config, {config.rmsNormEps}, embedding(b, config, tokens), [&](int64_t layer, Value x) {
    return preNormLayer(b, config, sequence, {.inputBias = true, .window = config.layerWindow(layer)}, x);
  });
}

} // namespace weft
