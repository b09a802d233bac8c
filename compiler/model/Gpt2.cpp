//===- Gpt2.cpp - The GPT-2 family ----------------------------------------------===//
//
// Weights lie as in its checkpoints, [in, out]; one projection makes queries, keys and values of all heads.
//
//===----------------------------------------------------------------------===//
#include "compiler/model/Families.h"

#include <cmath>

using namespace mlir;

namespace weft {
namespace {
/// Projections back to the residual stream start smaller the more of them add up.
double initialOfBranches(const ModelConfig &config) {
  return 1.0 / std::sqrt(2.0 * static_cast<double>(config.numHiddenLayers));
}

Value attention(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, int64_t layer,
                Value x) {
  auto scope = b.scope("attn");
  const int64_t hidden = config.hiddenSize, heads = config.numAttentionHeads, dimension = config.headDim;
  const Linear input{"c_attn",
                     "bsh,hcnd->bscnd",
                     {hidden, 3, heads, dimension},
                     {.tensorDimension = 2, .wholeParts = true},
                     {3, heads, dimension},
                     {.tensorDimension = 1, .wholeParts = true}};
  Value all = linear(b, config, input, x);
  ArrayRef<int64_t> shape = nn::tensorType(all).getShape();
  auto part = [&](int64_t index) {
    return b.reshape(b.slice(all, {0, 0, index, 0, 0}, {shape[0], shape[1], 1, heads, dimension}),
                     {shape[0], shape[1], heads, dimension});
  };
  AttentionOptions options{.scale = config.scaleAttnWeights ? 1.0 / std::sqrt(static_cast<double>(dimension))
                                                            : 1.0};
  if (config.scaleAttnByInverseLayerIdx)
    *options.scale /= static_cast<double>(layer + 1);
  const Linear output{"c_proj",
                      "bsnd,ndh->bsh",
                      {heads, dimension, hidden},
                      {.tensorDimension = 0, .wholeParts = true},
                      {hidden},
                      {},
                      initialOfBranches(config)};
  x = linear(b, config, output, attend(b, config, sequence, options, part(0), part(1), part(2)));
  return dropout(b, sequence, "resid_dropout", config.residPdrop, x);
}

Value feedForward(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value x) {
  auto scope = b.scope("mlp");
  const int64_t hidden = config.hiddenSize, inner = config.intermediateSize;
  x = linear(
      b, config,
      {"c_fc", "bsh,hf->bsf", {hidden, inner}, {.tensorDimension = 1}, {inner}, {.tensorDimension = 0}}, x);
  x = b.create<nn::ActivationOp>(x.getType(), activationOf(config), x);
  x = linear(b, config,
             {"c_proj",
              "bsf,fh->bsh",
              {inner, hidden},
              {.tensorDimension = 0},
              {hidden},
              {},
              initialOfBranches(config)},
             x);
  return dropout(b, sequence, "dropout", config.residPdrop, x);
}
} // namespace

Value buildGpt2(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value tokens) {
  Value positions = sequence.documentPositions ? sequence.documentPositions : sequence.positions;
  if (!positions)
    positions = b.iota(nn::tensorType(tokens).getShape(), b.builder.getI32Type(), 1);
  Value x = lookUp(b, config, "transformer.wte", config.vocabSize, {.tensorDimension = 0}, tokens);
  x = b.add(x, lookUp(b, config, "transformer.wpe", config.maxPositionEmbeddings, {}, positions));
  x = dropout(b, sequence, "transformer.drop", config.embdPdrop, x);
  for (int64_t layer = 0; layer < config.numHiddenLayers; ++layer) {
    auto scope = b.scope("transformer.h." + std::to_string(layer));
    x = b.boundary(x, layer);
    x = b.add(x, attention(b, config, sequence, layer, layerNorm(b, config.layerNormEpsilon, "ln_1", x)));
    x = b.add(x, feedForward(b, config, sequence, layerNorm(b, config.layerNormEpsilon, "ln_2", x)));
  }
  x = b.boundary(x, config.numHiddenLayers);
  return layerNorm(b, config.layerNormEpsilon, "transformer.ln_f", x);
}

} // namespace weft
