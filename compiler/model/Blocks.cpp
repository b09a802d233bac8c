#include "compiler/model/Blocks.h"

#include <cmath>

using namespace mlir;

namespace weft {
namespace {
/// x [batch, sequence, ...] plus a bias over the trailing dimensions.
Value addBias(ModelBuilder &b, Value x, ArrayRef<int64_t> shape, ParameterTraits traits) {
  traits.oneDimensional = true;
  Value bias = b.parameter("bias", shape, ParameterInitializer::constant(0.0), traits);
  ArrayRef<int64_t> whole = nn::tensorType(x).getShape();
  SmallVector<int64_t> dimensions;
  for (size_t index = 0; index < shape.size(); ++index)
    dimensions.push_back(static_cast<int64_t>(whole.size() - shape.size() + index));
  return b.add(x, b.broadcast(bias, whole, dimensions));
}

Value rotate(ModelBuilder &b, const RotaryTable &table, Value x) {
  return b.create<nn::RopeOp>(x.getType(), x, table.cosine, table.sine, UnitAttr(), UnitAttr());
}

/// x [batch, sequence, heads, dimension] under the norm `NAME`, whose weight stands for one head or for all.
Value normalizeHeads(ModelBuilder &b, const AttentionOptions &options, StringRef name, Value x) {
  ArrayRef<int64_t> shape = nn::tensorType(x).getShape();
  switch (options.queryKeyNorm) {
  case QueryKeyNorm::None:
    return x;
  case QueryKeyNorm::PerHead:
    return rmsNorm(b, options.norm, name, x);
  case QueryKeyNorm::Whole:
    return b.reshape(rmsNorm(b, options.norm, name, b.reshape(x, {shape[0], shape[1], shape[2] * shape[3]})),
                     shape);
  }
  llvm_unreachable("a norm that is not known");
}
} // namespace

nn::Activation activationOf(const ModelConfig &config) {
  switch (config.hiddenAct) {
  case HiddenAct::Silu:
    return nn::Activation::silu;
  case HiddenAct::Gelu:
    return nn::Activation::gelu;
  case HiddenAct::GeluPytorchTanh:
    return nn::Activation::gelu_tanh;
  case HiddenAct::Relu:
    return nn::Activation::relu;
  }
  return nn::Activation::silu;
}

Value attend(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
             const AttentionOptions &options, Value query, Value key, Value value) {
  ArrayRef<int64_t> shape = nn::tensorType(query).getShape();
  auto lse = b.type({shape[0], shape[2], shape[1]}, b.builder.getF32Type());
  const double scale = options.scale.value_or(1.0 / std::sqrt(static_cast<double>(config.headDim)));
  Attended attended{key, value, sequence.positions, sequence.positions};
  if (sequence.cache)
    attended = attendThroughCache(b, *sequence.cache, attended);
  return b
      .create<nn::AttentionOp>(query.getType(), lse, query, attended.key, attended.value, sequence.segments,
                               sequence.segments, attended.queryPositions, attended.keyPositions, Value(),
                               b.builder.getF64FloatAttr(scale), b.builder.getUnitAttr(),
                               b.builder.getI64IntegerAttr(options.window),
                               b.builder.getF64FloatAttr(options.softcap), UnitAttr())
      .getResult();
}

Value rmsNorm(ModelBuilder &b, Norm norm, StringRef name, Value x) {
  auto scope = b.scope(name);
  Value weight = b.parameter("weight", {nn::tensorType(x).getShape().back()},
                             ParameterInitializer::constant(1.0 - norm.offset));
  auto rows = b.type(nn::tensorType(x).getShape().drop_back(), b.builder.getF32Type());
  return b
      .create<nn::RmsNormOp>(x.getType(), rows, x, weight, llvm::APFloat(norm.epsilon),
                             llvm::APFloat(norm.offset))
      .getResult();
}

Value layerNorm(ModelBuilder &b, double epsilon, StringRef name, Value x) {
  auto scope = b.scope(name);
  const SmallVector<int64_t> row = {nn::tensorType(x).getShape().back()};
  Value weight = b.parameter("weight", row, ParameterInitializer::constant(1.0));
  Value bias = b.parameter("bias", row, ParameterInitializer::constant(0.0));
  auto rows = b.type(nn::tensorType(x).getShape().drop_back(), b.builder.getF32Type());
  return b.create<nn::LayerNormOp>(x.getType(), rows, rows, x, weight, bias, llvm::APFloat(epsilon))
      .getResult();
}

Value linear(ModelBuilder &b, const ModelConfig &config, const Linear &layer, Value x) {
  auto scope = b.scope(layer.name);
  Value weight =
      b.parameter("weight", layer.weightShape,
                  ParameterInitializer::normal(layer.initial * config.initializerRange), layer.weightTraits);
  Value y = b.einsum(layer.equation, x, weight, b.builder.getF32Type());
  return layer.biasShape.empty() ? y : addBias(b, y, layer.biasShape, layer.biasTraits);
}

Value lookUp(ModelBuilder &b, const ModelConfig &config, StringRef name, int64_t rows, ParameterTraits traits,
             Value ids) {
  auto scope = b.scope(name);
  Value table = b.parameter("weight", {rows, config.hiddenSize},
                            ParameterInitializer::normal(config.initializerRange), traits);
  SmallVector<int64_t> shape(nn::tensorType(ids).getShape());
  shape.push_back(config.hiddenSize);
  return b.create<nn::GatherOp>(b.type(shape, b.builder.getF32Type()), table, ids);
}

Value embedding(ModelBuilder &b, const ModelConfig &config, Value tokens) {
  return lookUp(b, config, "model.embed_tokens", config.vocabSize, {.tensorDimension = 0}, tokens);
}

Value dropout(ModelBuilder &b, const SequenceContext &sequence, StringRef name, double rate, Value x) {
  if (rate == 0.0 || !sequence.step)
    return x;
  auto scope = b.scope(name);
  return b.create<nn::DropoutOp>(x.getType(), x, sequence.step, sequence.sampleIds, llvm::APFloat(rate),
                                 sequence.seed, b.pathHash());
}

Value selfAttention(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                    const AttentionOptions &options, Value x) {
  auto scope = b.scope("self_attn");
  const int64_t heads = config.numAttentionHeads, groups = config.numKeyValueHeads,
                dimension = config.headDim, hidden = config.hiddenSize;
  const ParameterTraits byHead{.tensorDimension = 0, .wholeParts = true};
  auto project = [&](StringRef name, int64_t count) {
    Linear layer{name, "bsh,ndh->bsnd", {count, dimension, hidden}, byHead, {}, byHead};
    if (options.inputBias)
      layer.biasShape = {count, dimension};
    return linear(b, config, layer, x);
  };
  const RotaryTable &table = sequence.tables[options.ownFrequencies ? 1 : 0];
  Value query = rotate(b, table, normalizeHeads(b, options, "q_norm", project("q_proj", heads)));
  Value key = rotate(b, table, normalizeHeads(b, options, "k_norm", project("k_proj", groups)));
  Value value = project("v_proj", groups);
  Linear output{
      "o_proj", "bsnd,hnd->bsh", {hidden, heads, dimension}, {.tensorDimension = 1, .wholeParts = true}, {},
      {}};
  if (options.outputBias)
    output.biasShape = {hidden};
  return linear(b, config, output, attend(b, config, sequence, options, query, key, value));
}

Value gatedFeedForward(ModelBuilder &b, const ModelConfig &config, Value x) {
  auto scope = b.scope("mlp");
  const int64_t hidden = config.hiddenSize, inner = config.intermediateSize;
  const ParameterTraits byRow{.tensorDimension = 0};
  auto biasOf = [&](int64_t size) {
    return config.mlpBias ? SmallVector<int64_t>{size} : SmallVector<int64_t>{};
  };
  auto project = [&](StringRef name) {
    return linear(b, config, {name, "bsh,fh->bsf", {inner, hidden}, byRow, biasOf(inner), byRow}, x);
  };
  Value gate = project("gate_proj");
  Value up = project("up_proj");
  Value gated = b.create<nn::GluOp>(gate.getType(), activationOf(config), gate, up);
  return linear(b, config,
                {"down_proj", "bsf,hf->bsh", {hidden, inner}, {.tensorDimension = 1}, biasOf(hidden), {}},
                gated);
}

Value preNormLayer(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                   const AttentionOptions &options, Value x) {
  const Norm norm{config.rmsNormEps};
  x = b.add(x, selfAttention(b, config, sequence, options, rmsNorm(b, norm, "input_layernorm", x)));
  x = b.add(x, gatedFeedForward(b, config, rmsNorm(b, norm, "post_attention_layernorm", x)));
  return x;
}

Value sandwichLayer(ModelBuilder &b, const ModelConfig &config, Norm norm, const SequenceContext &sequence,
                    const AttentionOptions &options, Value x) {
  Value y = selfAttention(b, config, sequence, options, rmsNorm(b, norm, "input_layernorm", x));
  x = b.add(x, rmsNorm(b, norm, "post_attention_layernorm", y));
  y = gatedFeedForward(b, config, rmsNorm(b, norm, "pre_feedforward_layernorm", x));
  return b.add(x, rmsNorm(b, norm, "post_feedforward_layernorm", y));
}

Value decoder(ModelBuilder &b, const ModelConfig &config, Norm norm, Value x,
              llvm::function_ref<Value(int64_t layer, Value x)> buildLayer) {
  for (int64_t layer = 0; layer < config.numHiddenLayers; ++layer) {
    auto scope = b.scope("model.layers." + std::to_string(layer));
    x = buildLayer(layer, b.boundary(x, layer));
  }
  x = b.boundary(x, config.numHiddenLayers);
  auto scope = b.scope("model");
  return rmsNorm(b, norm, "norm", x);
}

} // namespace weft
