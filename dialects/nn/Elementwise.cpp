//===- Elementwise.cpp - Element-wise primitives: derivatives, folds, rules -===//
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

#include "mlir/IR/Matchers.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace weft::nn;

namespace {
/// One type where all three are the same, else `(T, T) -> T`: a product of a pending value and a replicated
/// one.
ParseResult parseBinaryTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  if (failed(parser.parseOptionalLParen())) {
    if (parser.parseType(result))
      return failure();
    lhs = rhs = result;
    return success();
  }
  return failure(parser.parseType(lhs) || parser.parseComma() || parser.parseType(rhs) ||
                 parser.parseRParen() || parser.parseArrow() || parser.parseType(result));
}
void printBinaryTypes(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type result) {
  if (lhs == result && rhs == result)
    printer << result;
  else
    printer << "(" << lhs << ", " << rhs << ") -> " << result;
}
} // namespace

#include "dialects/nn/NnElementwiseEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnElementwise.cpp.inc"

void NnDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnElementwise.cpp.inc"
      >();
}

namespace {
using Vjp = llvm::function_ref<Value(ValueBuilder &)>;

bool isFloat(Type tensor) { return isa<FloatType>(cast<RankedTensorType>(tensor).getElementType()); }

/// A cast to an integer truncates, and one to i1 asks for nonzero; the cast of a sum of i1 has no meaning.
bool isLinearCast(Type from, Type to) {
  auto isBool = [](Type tensor) { return cast<RankedTensorType>(tensor).getElementType().isInteger(1); };
  return !isBool(from) && !isBool(to) && (isFloat(to) || !isFloat(from));
}

/// Sets the cotangent of operand `index` to what `build` gives, if it is wanted and the result has a
/// cotangent.
void setCotangent(Operation *op, VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out,
                  unsigned index, Vjp build) {
  if (!cotangents[0] || !context.needsCotangent(index))
    return;
  ValueBuilder b(context.builder, op->getLoc());
  out[index] = b.cast(build(b), context.cotangentType(index).getElementType());
}
} // namespace

//===----------------------------------------------------------------------===//
// Sharding rules and cost: every dimension passes through.
//===----------------------------------------------------------------------===//

#define ELEMENTWISE_RULE(OP, ...)                                                                            \
  ShardingRule OP::shardingRule() { return makeElementwiseRule(*this, {__VA_ARGS__}); }                      \
  int64_t OP::flops() { return elementCount(getResult()); }

ELEMENTWISE_RULE(NegateOp, true)
ELEMENTWISE_RULE(AbsOp, false)
ELEMENTWISE_RULE(ExpOp, false)
ELEMENTWISE_RULE(LogOp, false)
ELEMENTWISE_RULE(SqrtOp, false)
ELEMENTWISE_RULE(RsqrtOp, false)
ELEMENTWISE_RULE(TanhOp, false)
ELEMENTWISE_RULE(SigmoidOp, false)
ELEMENTWISE_RULE(SinOp, false)
ELEMENTWISE_RULE(CosOp, false)
ELEMENTWISE_RULE(ErfOp, false)
ELEMENTWISE_RULE(FloorOp, false)
ELEMENTWISE_RULE(SignOp, false)
ELEMENTWISE_RULE(MultiplyOp, true, true)
// Integers are rounded toward zero.
ELEMENTWISE_RULE(DivideOp, isFloat(getType()), false)
ELEMENTWISE_RULE(MinimumOp, false, false)
ELEMENTWISE_RULE(PowerOp, false, false)
ELEMENTWISE_RULE(AndOp, false, false)
ELEMENTWISE_RULE(OrOp, false, false)
ELEMENTWISE_RULE(NotOp, false)
ELEMENTWISE_RULE(IsFiniteOp, false)
ELEMENTWISE_RULE(CompareOp, false, false)
ELEMENTWISE_RULE(CastOp, isLinearCast(getOperand().getType(), getType()))
ELEMENTWISE_RULE(StopGradientOp, true)
#undef ELEMENTWISE_RULE

/// Linear in the operands of these numbers together, in none alone.
#define JOINT_RULE(OP, MEMBER, ...)                                                                          \
  ShardingRule OP::shardingRule() {                                                                          \
    ShardingRule rule = makeElementwiseRule(*this, SmallVector<bool>(getNumOperands(), false));              \
    if (!tensorType(getResult()).getElementType().isInteger(1)) /* i1 has no sum */                          \
      rule.MEMBER = {__VA_ARGS__};                                                                           \
    return rule;                                                                                             \
  }                                                                                                          \
  int64_t OP::flops() { return elementCount(getResult()); }

JOINT_RULE(AddOp, jointlyLinear, 0, 1)
JOINT_RULE(SubtractOp, jointlyLinear, 0, 1)
JOINT_RULE(SelectOp, jointlyLinear, 1, 2)
JOINT_RULE(MaximumOp, jointlyMonotone, 0, 1)
#undef JOINT_RULE

//===----------------------------------------------------------------------===//
// Derivatives. g is the cotangent of the result, x the operand, y the result.
//===----------------------------------------------------------------------===//

#define UNARY_VJP(OP, EXPRESSION)                                                                            \
  void OP::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {           \
    setCotangent(*this, context, cotangents, out, 0, [&](ValueBuilder &b) -> Value {                         \
      [[maybe_unused]] Value g = cotangents[0], x = getOperand(), y = getResult();                           \
      return EXPRESSION;                                                                                     \
    });                                                                                                      \
  }

UNARY_VJP(NegateOp, b.neg(g))
UNARY_VJP(AbsOp, b.mul(g, b.unary<SignOp>(x)))
UNARY_VJP(ExpOp, b.mul(g, y))
UNARY_VJP(LogOp, b.div(g, x))
UNARY_VJP(SqrtOp, b.div(b.scale(g, 0.5), y))
UNARY_VJP(RsqrtOp, b.mul(b.scale(g, -0.5), b.mul(y, b.square(y))))
UNARY_VJP(TanhOp, b.mul(g, b.sub(b.splat(y, 1.0), b.square(y))))
UNARY_VJP(SigmoidOp, b.mul(g, b.mul(y, b.sub(b.splat(y, 1.0), y))))
UNARY_VJP(SinOp, b.mul(g, b.unary<CosOp>(x)))
UNARY_VJP(CosOp, b.neg(b.mul(g, b.unary<SinOp>(x))))
UNARY_VJP(ErfOp, b.mul(g, b.scale(b.exp(b.neg(b.square(x))), 2.0 * std::numbers::inv_sqrtpi)))
UNARY_VJP(FloorOp, b.splat(x, 0.0))
UNARY_VJP(SignOp, b.splat(x, 0.0))
UNARY_VJP(CastOp, g)
#undef UNARY_VJP

#define BINARY_VJP(OP, LHS, RHS)                                                                             \
  void OP::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {           \
    [[maybe_unused]] Value g = cotangents[0], x = getLhs(), y = getRhs();                                    \
    setCotangent(*this, context, cotangents, out, 0, [&](ValueBuilder &b) -> Value { return LHS; });         \
    setCotangent(*this, context, cotangents, out, 1, [&](ValueBuilder &b) -> Value { return RHS; });         \
  }

BINARY_VJP(AddOp, g, g)
BINARY_VJP(SubtractOp, g, b.neg(g))
BINARY_VJP(MultiplyOp, b.mul(g, y), b.mul(g, x))
BINARY_VJP(DivideOp, b.div(g, y), b.neg(b.div(b.mul(g, getResult()), y)))
BINARY_VJP(MaximumOp, b.select(b.compare(Comparison::ge, x, y), g, b.splat(g, 0.0)),
           b.select(b.compare(Comparison::ge, x, y), b.splat(g, 0.0), g))
BINARY_VJP(MinimumOp, b.select(b.compare(Comparison::le, x, y), g, b.splat(g, 0.0)),
           b.select(b.compare(Comparison::le, x, y), b.splat(g, 0.0), g))
BINARY_VJP(PowerOp, b.mul(g, b.mul(y, b.power(x, b.addScalar(y, -1.0)))),
           b.mul(g, b.mul(getResult(), b.log(x))))
#undef BINARY_VJP

void SelectOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  Value g = cotangents[0];
  setCotangent(*this, context, cotangents, out, 1,
               [&](ValueBuilder &b) { return b.select(getCondition(), g, b.splat(g, 0.0)); });
  setCotangent(*this, context, cotangents, out, 2,
               [&](ValueBuilder &b) { return b.select(getCondition(), b.splat(g, 0.0), g); });
}

//===----------------------------------------------------------------------===//
// Folds: only those that change no bit.
//===----------------------------------------------------------------------===//

namespace {
bool isSplat(Attribute attribute, double wanted) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!elements || !elements.isSplat())
    return false;
  if (isa<FloatType>(elements.getElementType())) {
    APFloat value = elements.getSplatValue<APFloat>();
    bool lossy;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return value.convertToDouble() == wanted;
  }
  return elements.getElementType().isInteger() && elements.getSplatValue<APInt>().getSExtValue() == wanted;
}
} // namespace

/// x + 0 is x for integers; for floats it would turn -0 into 0, so it stays.
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isa<IntegerType>(tensorType(getLhs()).getElementType()) && isSplat(adaptor.getRhs(), 0.0))
    return getLhs();
  return {};
}

/// x * 1 is x.
OpFoldResult MultiplyOp::fold(FoldAdaptor adaptor) {
  if (!tensorType(getLhs()).getElementType().isInteger(1) && isSplat(adaptor.getRhs(), 1.0))
    return getLhs();
  return {};
}

/// A cast to the same type is its operand.
OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  return {};
}
