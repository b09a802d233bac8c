//===- Mistral.cpp - The Mistral family (arXiv:2310.06825) ----------------------===//
#include "compiler/model/Families.h"

using namespace mlir;

namespace weft {

Value buildMistral(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                   Value tokens) {
  return decoder(b, config, {config.rmsNormEps}, embedding(b, config, tokens), [&](int64_t layer, Value x) {
    return preNormLayer(b, config, sequence, {.window = config.layerWindow(layer)}, x);
  });
}

} // namespace weft
