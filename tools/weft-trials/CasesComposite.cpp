//===- CasesComposite.cpp - Cases of activations, norms and rope ------------===//
#include "tools/weft-trials/Cases.h"

using namespace mlir;

namespace weft::trials {
namespace {
using nn::Activation;

Activation activationKind(CaseBuilder &c) {
  return c.random.choose({Activation::silu, Activation::gelu, Activation::gelu_tanh, Activation::relu});
}

/// relu has a kink at 0.
Fill activationFill(Activation kind) { return kind == Activation::relu ? Fill::Spaced : Fill::Normal; }

void activation(CaseBuilder &c) {
  Activation kind = activationKind(c);
  Value x = c.floats(c.shape(0, 3), activationFill(kind));
  c.subject(nn::ActivationOp::create(c.builder, c.b.location, x.getType(), kind, x));
}

void glu(CaseBuilder &c) {
  Activation kind = activationKind(c);
  SmallVector<int64_t> shape = c.shape(0, 3);
  Value gate = c.floats(shape, activationFill(kind)), up = c.floats(shape);
  c.subject(nn::GluOp::create(c.builder, c.b.location, gate.getType(), kind, gate, up));
}

void softmax(CaseBuilder &c) {
  Value x = c.floats(c.shape(1, 3));
  c.subject(nn::SoftmaxOp::create(c.builder, c.b.location, x.getType(), x));
}

/// Rows, and the type of their statistics.
struct Rows {
  SmallVector<int64_t> shape;
  Type statistics;

  explicit Rows(CaseBuilder &c) : shape(c.shape(1, 3)) {
    if (shape.back() == 1 && c.random.chance(0.8)) // the deviation of one number is degenerate
      shape.back() = c.style.large ? 33 : 3;
    statistics = c.style.element == DType::F64 ? c.element() : Type(c.builder.getF32Type());
  }
  RankedTensorType rowType() const {
    return RankedTensorType::get(ArrayRef<int64_t>(shape).drop_back(), statistics);
  }
  SmallVector<int64_t> last() const { return {shape.back()}; }
};

llvm::APFloat epsilon(CaseBuilder &c) { return llvm::APFloat(c.random.choose({1e-6, 1e-5, 1e-2})); }

nn::RmsNormOp makeRmsNorm(CaseBuilder &c, const Rows &rows) {
  Value x = c.floats(rows.shape), w = c.floats(rows.last());
  return nn::RmsNormOp::create(c.builder, c.b.location, x.getType(), rows.rowType(), x, w, epsilon(c),
                               llvm::APFloat(c.random.choose({0.0, 1.0})));
}

void rmsNorm(CaseBuilder &c) {
  c.subject(makeRmsNorm(c, Rows(c)));
  c.residual(1);
}

void rmsNormBackward(CaseBuilder &c) {
  Rows rows(c);
  nn::RmsNormOp forward = makeRmsNorm(c, rows);
  Value cotangent = c.floats(rows.shape);
  c.subject(nn::RmsNormBackwardOp::create(c.builder, c.b.location, forward.getInput().getType(),
                                          forward.getWeight().getType(), cotangent, forward.getInput(),
                                          forward.getWeight(), forward.getRstd(), forward.getEpsilonAttr(),
                                          forward.getWeightOffsetAttr()));
}

nn::LayerNormOp makeLayerNorm(CaseBuilder &c, const Rows &rows) {
  Value x = c.floats(rows.shape), w = c.floats(rows.last()), bias = c.floats(rows.last());
  return nn::LayerNormOp::create(c.builder, c.b.location, x.getType(), rows.rowType(), rows.rowType(), x, w,
                                 bias, epsilon(c));
}

void layerNorm(CaseBuilder &c) {
  c.subject(makeLayerNorm(c, Rows(c)));
  c.residual(1), c.residual(2);
}

void layerNormBackward(CaseBuilder &c) {
  Rows rows(c);
  nn::LayerNormOp forward = makeLayerNorm(c, rows);
  Value cotangent = c.floats(rows.shape);
  c.subject(nn::LayerNormBackwardOp::create(c.builder, c.b.location, forward.getInput().getType(),
                                            forward.getWeight().getType(), forward.getBias().getType(),
                                            cotangent, forward.getInput(), forward.getWeight(),
                                            forward.getMean(), forward.getRstd(), forward.getEpsilonAttr()));
}

/// All or some of the dimensions rotate; one table for all samples or one for each.
void rope(CaseBuilder &c) {
  int64_t batch = c.random.integer(1, 3), positions = c.size(), heads = c.random.integer(1, 3);
  int64_t dimension = c.style.large ? c.random.choose({2, 6, 16, 17, 34, 64}) : c.random.integer(2, 6);
  int64_t half = c.random.chance(0.6) ? dimension / 2 : c.random.integer(1, dimension / 2);
  Value x = c.floats({batch, positions, heads, dimension});
  SmallVector<int64_t> table = {positions, half};
  if (c.random.chance(0.5))
    table.insert(table.begin(), batch);
  Type f32 = c.builder.getF32Type();
  Value cosine = c.floats(table, Fill::Inner, f32), sine = c.floats(table, Fill::Inner, f32);
  auto flag = [&] { return c.random.chance(0.5) ? c.builder.getUnitAttr() : UnitAttr(); };
  UnitAttr inverse = flag(), interleaved = flag();
  c.subject(nn::RopeOp::create(c.builder, c.b.location, x.getType(), x, cosine, sine, inverse, interleaved));
  c.constantOperand(1), c.constantOperand(2);
}
} // namespace

void addCompositeCases(Generators &generators) {
  generators["activation"] = activation;
  generators["glu"] = glu;
  generators["softmax"] = softmax;
  generators["rms_norm"] = rmsNorm;
  generators["rms_norm_backward"] = rmsNormBackward;
  generators["layer_norm"] = layerNorm;
  generators["layer_norm_backward"] = layerNormBackward;
  generators["rope"] = rope;
}

} // namespace weft::trials
