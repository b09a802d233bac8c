//===- Llama.cpp - The Llama family (arXiv:2302.13971) --------------------------===//
#include "compiler/model/Families.h"

using namespace mlir;

namespace weft {

Value buildLlama(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value tokens) {
  const AttentionOptions attention{.inputBias = config.attentionBias, .outputBias = config.attentionBias};
  return decoder(b, config, {config.rmsNormEps}, embedding(b, config, tokens),
                 [&](int64_t, Value x) { return preNormLayer(b, config, sequence, attention, x); });
}

} // namespace weft
