//===- Llama.cpp - The Llama family --------------------------------------------===//
#include "compiler/model/Families.h"

using namespace mlir;

namespace weft {
namespace {
/// One decoder layer: pre-norm attention and gated feed-forward, both residual. x, result: [batch, sequence,
/// hidden].
Value decoderLayer(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, int64_t layer,
                   Value x) {
  auto scope = b.scope("model.layers." + std::to_string(layer));
  x = b.boundary(x, layer);
  x = b.add(x, selfAttention(b, config, sequence, rmsNorm(b, config, "input_layernorm", x)));
  x = b.add(x, gatedFeedForward(b, config, rmsNorm(b, config, "post_attention_layernorm", x)));
  return x;
}
} // namespace

Value buildLlama(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value tokens) {
  Value x;
  {
    auto scope = b.scope("model");
    x = embedding(b, config, tokens);
  }
  for (int64_t layer = 0; layer < config.numHiddenLayers; ++layer)
    x = decoderLayer(b, config, sequence, layer, x);
  x = b.boundary(x, config.numHiddenLayers);
  auto scope = b.scope("model");
  return rmsNorm(b, config, "norm", x);
}

Value llamaHead(ModelBuilder &b, const ModelConfig &config) {
  auto scope = b.scope(config.tieWordEmbeddings ? "model.embed_tokens" : "lm_head");
  return b.parameter("weight", {config.vocabSize, config.hiddenSize},
                     ParameterInitializer::normal(config.initializerRange), {.tensorDimension = 0});
}

} // namespace weft
