//===- Activation.cpp - Element-wise and row-wise composites ----------------===//
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace weft::nn;

#include "dialects/nn/NnActivationEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnActivation.cpp.inc"

void NnDialect::registerActivationOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnActivation.cpp.inc"
      >();
}

namespace {
constexpr double kGeluTanhCubic = 0.044715;
const double kSqrtTwoOverPi = std::sqrt(2.0 / std::numbers::pi);

/// tanh's argument in gelu_tanh: sqrt(2 / pi) (x + 0.044715 x^3).
Value geluTanhArgument(ValueBuilder &b, Value x) {
  Value cubic = b.mul(b.square(x), x);
  return b.scale(b.add(x, b.scale(cubic, kGeluTanhCubic)), kSqrtTwoOverPi);
}

Value activate(ValueBuilder &b, Activation kind, Value x) {
  switch (kind) {
  case Activation::silu:
    return b.mul(x, b.sigmoid(x));
  case Activation::gelu:
    return b.scale(b.mul(x, b.addScalar(b.unary<ErfOp>(b.scale(x, std::numbers::sqrt2 / 2)), 1.0)), 0.5);
  case Activation::gelu_tanh:
    return b.scale(b.mul(x, b.addScalar(b.tanh(geluTanhArgument(b, x)), 1.0)), 0.5);
  case Activation::relu:
    return b.maximum(x, b.splat(x, 0.0));
  }
  return {};
}

/// The derivative of `activate` at x.
Value activationSlope(ValueBuilder &b, Activation kind, Value x) {
  switch (kind) {
  case Activation::silu: { // s (1 + x (1 - s))
    Value s = b.sigmoid(x);
    return b.mul(s, b.addScalar(b.mul(x, b.sub(b.splat(x, 1.0), s)), 1.0));
  }
  case Activation::gelu: { // Phi(x) + x phi(x)
    Value cumulative = b.scale(b.addScalar(b.unary<ErfOp>(b.scale(x, std::numbers::sqrt2 / 2)), 1.0), 0.5);
    Value density =
        b.scale(b.exp(b.scale(b.square(x), -0.5)), std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2);
    return b.add(cumulative, b.mul(x, density));
  }
  case Activation::gelu_tanh: { // (1 + t) / 2 + x (1 - t^2) u' / 2, u' = sqrt(2/pi) (1 + 3 * 0.044715 x^2)
    Value t = b.tanh(geluTanhArgument(b, x));
    Value inner = b.scale(b.addScalar(b.scale(b.square(x), 3 * kGeluTanhCubic), 1.0), kSqrtTwoOverPi);
    Value slope = b.mul(b.mul(x, b.sub(b.splat(t, 1.0), b.square(t))), inner);
    return b.scale(b.add(b.addScalar(t, 1.0), slope), 0.5);
  }
  case Activation::relu:
    return b.cast(b.compare(Comparison::ge, x, b.splat(x, 0.0)), tensorType(x).getElementType());
  }
  return {};
}

bool wants(VjpContext &context, ArrayRef<Value> cotangents, unsigned index) {
  return cotangents[0] && context.needsCotangent(index);
}
} // namespace

//===----------------------------------------------------------------------===//
// activation, glu
//===----------------------------------------------------------------------===//

SmallVector<Value> ActivationOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  return {activate(b, getKind(), getOperand())};
}
void ActivationOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  ValueBuilder b(context.builder, getLoc());
  if (wants(context, cotangents, 0))
    out[0] = b.cast(b.mul(cotangents[0], activationSlope(b, getKind(), getOperand())),
                    context.cotangentType(0).getElementType());
}
ShardingRule ActivationOp::shardingRule() { return makeElementwiseRule(*this, {false}); }
int64_t ActivationOp::flops() { return 4 * elementCount(getResult()); }

SmallVector<Value> GluOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  return {b.mul(activate(b, getKind(), getGate()), getUp())};
}
void GluOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  ValueBuilder b(context.builder, getLoc());
  if (wants(context, cotangents, 0))
    out[0] = b.cast(b.mul(b.mul(cotangents[0], getUp()), activationSlope(b, getKind(), getGate())),
                    context.cotangentType(0).getElementType());
  if (wants(context, cotangents, 1))
    out[1] = b.cast(b.mul(cotangents[0], activate(b, getKind(), getGate())),
                    context.cotangentType(1).getElementType());
}
ShardingRule GluOp::shardingRule() { return makeElementwiseRule(*this, {false, false}); }
int64_t GluOp::flops() { return 5 * elementCount(getResult()); }

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  if (tensorType(getOperand()).getRank() == 0)
    return emitOpError() << "expects at least one dimension, got " << getType();
  return success();
}
SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  int64_t size = tensorType(getOperand()).getShape().back();
  Value shifted = b.sub(getOperand(), b.broadcastLast(b.maxLast(getOperand()), size));
  Value weights = b.exp(shifted);
  return {b.div(weights, b.broadcastLast(b.sumLast(weights), size))};
}
void SoftmaxOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!wants(context, cotangents, 0))
    return;
  ValueBuilder b(context.builder, getLoc());
  Value weighted = b.mul(cotangents[0], getResult());
  Value total = b.broadcastLast(b.sumLast(weighted), tensorType(getOperand()).getShape().back());
  out[0] = b.cast(b.sub(weighted, b.mul(getResult(), total)), context.cotangentType(0).getElementType());
}
ShardingRule SoftmaxOp::shardingRule() {
  return makeShardingRule(*this, {"Ab"}, {"Ab"}, tensorType(getOperand()).getRank() - 1, "b", {false});
}
int64_t SoftmaxOp::flops() { return 5 * elementCount(getOperand()); }

//===----------------------------------------------------------------------===//
// dropout
//===----------------------------------------------------------------------===//

LogicalResult DropoutOp::verify() {
  double rate = getRate().convertToDouble();
  if (!(rate >= 0.0 && rate < 1.0))
    return emitOpError() << "expects 0 <= rate < 1, got " << rate;
  if (tensorType(getStep()).getRank() != 0)
    return emitOpError() << "expects a scalar step, got " << getStep().getType();
  RankedTensorType type = tensorType(getOperand()), ids = tensorType(getSampleIds());
  if (type.getRank() == 0 || ids.getRank() != 1 || ids.getDimSize(0) != type.getDimSize(0))
    return emitOpError() << "expects one sample id for each index of the operand's first dimension, got "
                         << ids << " for " << type;
  return success();
}
SmallVector<Value> DropoutOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  double rate = getRate().convertToDouble();
  Value uniform = b.create<RandomUniformOp>(b.withElement(getOperand(), builder.getF32Type()), getStep(),
                                            getSampleIds(), getSeedAttr(), getOpIdAttr());
  // In the type of what it is compared with: the mask is the same in exact evaluation.
  Value keep = b.compare(Comparison::ge, uniform, b.constant(tensorType(uniform), rate));
  return {b.select(keep, b.scale(getOperand(), 1.0 / (1.0 - rate)), b.splat(getOperand(), 0.0))};
}
/// Dropout is linear: the cotangent goes through the same mask, drawn again.
void DropoutOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!wants(context, cotangents, 0))
    return;
  ValueBuilder b(context.builder, getLoc());
  Value dropped = b.create<DropoutOp>(cotangents[0].getType(), cotangents[0], getStep(), getSampleIds(),
                                      getRateAttr(), getSeedAttr(), getOpIdAttr());
  out[0] = b.cast(dropped, context.cotangentType(0).getElementType());
}
ShardingRule DropoutOp::shardingRule() {
  int64_t rest = tensorType(getResult()).getRank() - 1;
  std::string whole;
  for (int64_t dimension = 0; dimension < rest; ++dimension)
    whole += static_cast<char>('c' + dimension);
  std::string term = "b" + whole;
  return makeShardingRule(*this, {term, "", "b"}, {term}, 0, whole, {true, false, false});
}
int64_t DropoutOp::flops() { return 12 * elementCount(getResult()); }
