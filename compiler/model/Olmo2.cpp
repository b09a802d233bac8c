//===- Olmo2.cpp - The OLMo 2 family (arXiv:2501.00656) -------------------------===//
#include "compiler/model/Families.h"

using namespace mlir;

namespace weft {

Value buildOlmo2(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value tokens) {
  const Norm norm{config.rmsNormEps};
  const AttentionOptions attention{.inputBias = config.attentionBias,
                                   .outputBias = config.attentionBias,
                                   .queryKeyNorm = QueryKeyNorm::Whole,
                                   .norm = norm};
  // Norms stand behind the branches, not before them.
  return decoder(b, config, norm, embedding(b, config, tokens), [&](int64_t, Value x) {
    Value y = selfAttention(b, config, sequence, attention, x);
    x = b.add(x, rmsNorm(b, norm, "post_attention_layernorm", y));
    y = gatedFeedForward(b, config, x);
    return b.add(x, rmsNorm(b, norm, "post_feedforward_layernorm", y));
  });
}

} // namespace weft
