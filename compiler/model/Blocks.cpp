#include "compiler/model/Blocks.h"

#include <cmath>

using namespace mlir;

namespace weft {
namespace {
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

/// A linear layer `NAME`: an einsum with its weight, and a bias over the output dimensions if wanted.
struct Linear {
  StringRef name, equation;
  SmallVector<int64_t> weightShape, biasShape;
  bool bias;
  ParameterTraits traits; ///< of the weight
  /// Whether tensor parallelism splits the output dimensions (the first ones of the weight), and so the bias.
  bool columnParallel;

  Value operator()(ModelBuilder &b, const ModelConfig &config, Value x) const {
    auto scope = b.scope(name);
    Value weight =
        b.parameter("weight", weightShape, ParameterInitializer::normal(config.initializerRange), traits);
    Value y = b.einsum(equation, x, weight, b.builder.getF32Type());
    return bias ? addBias(b, y, biasShape, columnParallel ? traits : ParameterTraits()) : y;
  }
};
} // namespace

Value embedding(ModelBuilder &b, const ModelConfig &config, Value tokens) {
  auto scope = b.scope("embed_tokens");
  Value table = b.parameter("weight", {config.vocabSize, config.hiddenSize},
                            ParameterInitializer::normal(config.initializerRange), {.tensorDimension = 0});
  SmallVector<int64_t> shape(nn::tensorType(tokens).getShape());
  shape.push_back(config.hiddenSize);
  return b.create<nn::GatherOp>(b.type(shape, b.builder.getF32Type()), table, tokens);
}

Value rmsNorm(ModelBuilder &b, const ModelConfig &config, StringRef name, Value x) {
  auto scope = b.scope(name);
  Value weight =
      b.parameter("weight", {nn::tensorType(x).getShape().back()}, ParameterInitializer::constant(1.0));
  auto rows = b.type(nn::tensorType(x).getShape().drop_back(), b.builder.getF32Type());
  return b
      .create<nn::RmsNormOp>(x.getType(), rows, x, weight, llvm::APFloat(config.rmsNormEps),
                             llvm::APFloat(0.0))
      .getResult();
}

Value selfAttention(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value x) {
  auto scope = b.scope("self_attn");
  int64_t heads = config.numAttentionHeads, groups = config.numKeyValueHeads, dimension = config.headDim,
          hidden = config.hiddenSize;
  auto project = [&](StringRef name, int64_t count) {
    return Linear{name,
                  "bsh,ndh->bsnd",
                  {count, dimension, hidden},
                  {count, dimension},
                  config.attentionBias,
                  {.tensorDimension = 0, .wholeParts = true},
                  true}(b, config, x);
  };
  auto rotate = [&](Value value) {
    return b.create<nn::RopeOp>(value.getType(), value, sequence.tables.cosine, sequence.tables.sine,
                                UnitAttr(), UnitAttr());
  };
  Value query = rotate(project("q_proj", heads));
  Value key = rotate(project("k_proj", groups));
  Value value = project("v_proj", groups);
  ArrayRef<int64_t> shape = nn::tensorType(x).getShape();
  auto lse = b.type({shape[0], heads, shape[1]}, b.builder.getF32Type());
  Attended attended{key, value, sequence.positions, sequence.positions};
  if (sequence.cache)
    attended = attendThroughCache(b, *sequence.cache, attended);
  auto attention = b.create<nn::AttentionOp>(
      query.getType(), lse, query, attended.key, attended.value, Value(), Value(), attended.queryPositions,
      attended.keyPositions, Value(),
      b.builder.getF64FloatAttr(1.0 / std::sqrt(static_cast<double>(dimension))), b.builder.getUnitAttr(),
      b.builder.getI64IntegerAttr(0), b.builder.getF64FloatAttr(0.0), UnitAttr());
  return Linear{"o_proj", "bsnd,hnd->bsh",      {hidden, heads, dimension},
                {hidden}, config.attentionBias, {.tensorDimension = 1, .wholeParts = true},
                false}(b, config, attention.getResult());
}

Value gatedFeedForward(ModelBuilder &b, const ModelConfig &config, Value x) {
  auto scope = b.scope("mlp");
  int64_t hidden = config.hiddenSize, inner = config.intermediateSize;
  auto project = [&](StringRef name) {
    return Linear{name, "bsh,fh->bsf", {inner, hidden}, {inner}, config.mlpBias, {.tensorDimension = 0},
                  true}(b, config, x);
  };
  Value gate = project("gate_proj");
  Value up = project("up_proj");
  Value gated = b.create<nn::GluOp>(gate.getType(), activationOf(config), gate, up);
  return Linear{"down_proj", "bsf,hf->bsh", {hidden, inner}, {hidden}, config.mlpBias, {.tensorDimension = 1},
                false}(b, config, gated);
}

} // namespace weft
