//===- Optimizer.cpp - Optimizer updates: meaning and checks ----------------===//
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

using namespace mlir;
using namespace weft::nn;
namespace dist = weft::dist;

#define GET_OP_CLASSES
#include "dialects/nn/NnOptimizer.cpp.inc"

void NnDialect::registerOptimizerOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnOptimizer.cpp.inc"
      >();
}

namespace {
/// The first `whole` operands and all results have the parameter's type, the other operands are scalars. Of
/// placements the sharding rule speaks.
LogicalResult verifyUpdate(Operation *op, unsigned whole) {
  auto typeOf = [](Value value) { return dist::withoutPlacement(tensorType(value)); };
  RankedTensorType type = typeOf(op->getOperand(0));
  for (unsigned index = 0; index < op->getNumOperands(); ++index) {
    RankedTensorType operand = typeOf(op->getOperand(index));
    if (index < whole && operand != type)
      return op->emitOpError() << "expects operand " << index << " of the parameter's type " << type
                               << ", got " << operand;
    if (index >= whole && operand.getRank() != 0)
      return op->emitOpError() << "expects operand " << index << " to be a scalar, got " << operand;
  }
  for (Value result : op->getResults())
    if (typeOf(result) != type)
      return op->emitOpError() << "expects results of the parameter's type " << type << ", got "
                               << typeOf(result);
  return success();
}
/// Every dimension of the parameter passes through; the scalars are everywhere.
ShardingRule updateRule(Operation *op, unsigned whole) {
  SmallVector<StringRef> operands(op->getNumOperands(), ""), results(op->getNumResults(), "A");
  for (unsigned index = 0; index < whole; ++index)
    operands[index] = "A";
  return makeShardingRule(op, operands, results, tensorType(op->getOperand(0)).getRank(), "",
                          SmallVector<bool>(op->getNumOperands(), false));
}
/// decay * old + (1 - decay) * fresh.
Value average(ValueBuilder &b, double decay, Value old, Value fresh) {
  return b.add(b.scale(old, decay), b.scale(fresh, 1.0 - decay));
}
/// A scalar in the parameter's type, repeated over its shape.
Value spread(ValueBuilder &b, Value scalar, Value like) {
  return b.broadcastScalar(b.castTo(scalar, like), like);
}
} // namespace

LogicalResult AdamwOp::verify() { return verifyUpdate(*this, 4); }
SmallVector<Value> AdamwOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Value p = getParameter(), g = getGradient();
  Value m = average(b, getBeta1().convertToDouble(), getFirstMoment(), g);
  Value v = average(b, getBeta2().convertToDouble(), getSecondMoment(), b.square(g));
  Value decay = b.addScalar(b.scale(getLearningRate(), -getWeightDecay().convertToDouble()), 1.0);
  Value rate = b.div(getLearningRate(), getCorrection1());
  Value root = b.sqrt(getCorrection2());
  Value denominator = b.addScalar(b.div(b.sqrt(v), spread(b, root, p)), getEpsilon().convertToDouble());
  Value step = b.div(b.mul(spread(b, rate, p), m), denominator);
  return {b.sub(b.mul(p, spread(b, decay, p)), step), m, v};
}
ShardingRule AdamwOp::shardingRule() { return updateRule(*this, 4); }
int64_t AdamwOp::flops() { return 14 * elementCount(getParameter()); }

LogicalResult SgdOp::verify() { return verifyUpdate(*this, 3); }
SmallVector<Value> SgdOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Value p = getParameter();
  Value g = getGradient();
  if (double decay = getWeightDecay().convertToDouble(); decay != 0.0)
    g = b.add(g, b.scale(p, decay));
  Value m = b.add(b.scale(getFirstMoment(), getMomentum().convertToDouble()), g);
  return {b.sub(p, b.mul(spread(b, getLearningRate(), p), m)), m};
}
ShardingRule SgdOp::shardingRule() { return updateRule(*this, 3); }
int64_t SgdOp::flops() { return 6 * elementCount(getParameter()); }

LogicalResult LionOp::verify() { return verifyUpdate(*this, 3); }
SmallVector<Value> LionOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Value p = getParameter(), g = getGradient();
  Value direction = b.unary<SignOp>(average(b, getBeta1().convertToDouble(), getFirstMoment(), g));
  Value decay = b.addScalar(b.scale(getLearningRate(), -getWeightDecay().convertToDouble()), 1.0);
  Value next = b.sub(b.mul(p, spread(b, decay, p)), b.mul(spread(b, getLearningRate(), p), direction));
  return {next, average(b, getBeta2().convertToDouble(), getFirstMoment(), g)};
}
ShardingRule LionOp::shardingRule() { return updateRule(*this, 3); }
int64_t LionOp::flops() { return 9 * elementCount(getParameter()); }
