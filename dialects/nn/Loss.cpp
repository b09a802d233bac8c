//===- Loss.cpp - The loss head: meaning, backward, checks, rules -----------===//
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

using namespace mlir;
using namespace weft::nn;
namespace dist = weft::dist;

#define GET_OP_CLASSES
#include "dialects/nn/NnLoss.cpp.inc"

void NnDialect::registerLossOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnLoss.cpp.inc"
      >();
}

namespace {
Type statisticsType(Value value) {
  Type element = tensorType(value).getElementType();
  return element.isF64() ? element : Type(Float32Type::get(value.getContext()));
}

/// The checks that forward and backward share.
template <typename OpTy> LogicalResult verifyLoss(OpTy op, ArrayRef<std::pair<StringRef, Value>> rows) {
  RankedTensorType input = tensorType(op.getInput()), weight = tensorType(op.getWeight());
  if (input.getRank() == 0 || weight.getRank() != 2 || weight.getDimSize(1) != input.getShape().back())
    return op.emitOpError() << "expects an input [..., h] and a weight [v, h], got " << input << " and "
                            << weight;
  if (input.getElementType() != weight.getElementType())
    return op.emitOpError() << "expects input and weight of one element type, got " << input << " and "
                            << weight;
  RankedTensorType row = RankedTensorType::get(input.getShape().drop_back(), statisticsType(op.getInput()));
  if (tensorType(op.getTargets()).getShape() != row.getShape())
    return op.emitOpError() << "expects one target per row of the input, got " << op.getTargets().getType();
  for (auto [what, value] : rows)
    if (dist::withoutPlacement(tensorType(value)) != row)
      return op.emitOpError() << "expects " << what << " of type " << row << ", got " << value.getType();
  double smoothing = op.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0.0 && smoothing < 1.0))
    return op.emitOpError() << "expects 0 <= label_smoothing < 1, got " << smoothing;
  if (!(op.getZLoss().convertToDouble() >= 0.0) || !(op.getSoftcap().convertToDouble() >= 0.0))
    return op.emitOpError() << "expects z_loss and softcap of at least 0";
  return success();
}

/// What both directions compute first.
struct LossTerms {
  Value logits;  ///< [rows..., v], soft-capped
  Value target;  ///< i1 [rows..., v], true at the target
  Value counted; ///< i1 [rows...], false for ignored rows
};

template <typename OpTy> LossTerms buildTerms(ValueBuilder &b, OpTy op) {
  Type type = statisticsType(op.getInput());
  Value x = b.cast(op.getInput(), type), w = b.cast(op.getWeight(), type);
  ArrayRef<int64_t> shape = tensorType(x).getShape();
  int64_t hidden = shape.back(), vocabulary = tensorType(w).getDimSize(0);
  int64_t rows = elementCount(op.getTargets());
  SmallVector<int64_t> logitShape(shape.drop_back());
  logitShape.push_back(vocabulary);
  LossTerms terms;
  terms.logits = b.reshape(b.einsum("rh,vh->rv", b.reshape(x, {rows, hidden}), w, type), logitShape);
  if (double cap = op.getSoftcap().convertToDouble(); cap != 0.0)
    terms.logits = b.scale(b.tanh(b.scale(terms.logits, 1.0 / cap)), cap);
  Value targets = op.getTargets();
  Value index = b.iota(logitShape, b.builder.getI32Type(), logitShape.size() - 1);
  terms.target = b.compare(Comparison::eq, index, b.broadcastLast(targets, vocabulary));
  Value inRange =
      b.logicalAnd(b.compare(Comparison::ge, targets, b.splat(targets, 0)),
                   b.compare(Comparison::lt, targets, b.splat(targets, static_cast<double>(vocabulary))));
  auto ignoreIndex = static_cast<int64_t>(op.getIgnoreIndex()); // negative as a rule; the getter is unsigned
  Value ignored = b.compare(Comparison::eq, targets, b.splat(targets, static_cast<double>(ignoreIndex)));
  terms.counted = b.logicalAnd(inRange, b.logicalNot(ignored));
  return terms;
}
} // namespace

//===----------------------------------------------------------------------===//
// linear_cross_entropy
//===----------------------------------------------------------------------===//

LogicalResult LinearCrossEntropyOp::verify() {
  return verifyLoss(*this,
                    {{"a loss", getLoss()}, {"a z_loss", getZLossValue()}, {"a log-sum-exp", getLse()}});
}

SmallVector<Value> LinearCrossEntropyOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  auto [logits, target, counted] = buildTerms(b, *this);
  int64_t vocabulary = tensorType(logits).getShape().back();
  double smoothing = getLabelSmoothing().convertToDouble();
  Value largest = b.maxLast(logits);
  Value total = b.sumLast(b.exp(b.sub(logits, b.broadcastLast(largest, vocabulary))));
  Value lse = b.add(b.log(total), largest);
  Value atTarget = b.sumLast(b.select(target, logits, b.splat(logits, 0.0)));
  Value loss = b.sub(lse, b.scale(atTarget, 1.0 - smoothing));
  if (smoothing != 0.0)
    loss = b.sub(loss, b.scale(b.meanLast(logits), smoothing));
  Value zero = b.splat(loss, 0.0);
  Value zLoss = b.scale(b.square(lse), getZLoss().convertToDouble());
  return {b.select(counted, loss, zero), b.select(counted, zLoss, zero), lse};
}

void LinearCrossEntropyOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents,
                                    MutableArrayRef<Value> out) {
  if (!cotangents[0] && !cotangents[1])
    return;
  ValueBuilder b(context.builder, getLoc());
  auto orZero = [&](Value cotangent) { return cotangent ? cotangent : b.splat(getLoss(), 0.0); };
  auto backward = b.create<LinearCrossEntropyBackwardOp>(
      context.cotangentType(0), context.cotangentType(1), orZero(cotangents[0]), orZero(cotangents[1]),
      getInput(), getWeight(), getTargets(), getLse(), getIgnoreIndexAttr(), getLabelSmoothingAttr(),
      getZLossAttr(), getSoftcapAttr());
  out[0] = backward.getInputCotangent();
  out[1] = backward.getWeightCotangent();
}
ShardingRule LinearCrossEntropyOp::shardingRule() {
  return makeShardingRule(*this, {"Ah", "vh", "A"}, {"A", "A", "A"}, tensorType(getTargets()).getRank(), "vh",
                          {false, false, false});
}
int64_t LinearCrossEntropyOp::flops() {
  return (2 * tensorType(getInput()).getShape().back() + 5) * elementCount(getTargets()) *
         tensorType(getWeight()).getDimSize(0);
}

//===----------------------------------------------------------------------===//
// linear_cross_entropy_backward
//===----------------------------------------------------------------------===//

LogicalResult LinearCrossEntropyBackwardOp::verify() {
  if (failed(verifyLoss(*this, {{"a loss cotangent", getLossCotangent()},
                                {"a z_loss cotangent", getZLossCotangent()},
                                {"a log-sum-exp", getLse()}})))
    return failure();
  if (tensorType(getInputCotangent()).getShape() != tensorType(getInput()).getShape() ||
      tensorType(getWeightCotangent()).getShape() != tensorType(getWeight()).getShape())
    return emitOpError() << "expects cotangents of the shapes of " << getInput().getType() << " and "
                         << getWeight().getType() << ", got " << getInputCotangent().getType() << " and "
                         << getWeightCotangent().getType();
  return success();
}

SmallVector<Value> LinearCrossEntropyBackwardOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  auto [logits, target, counted] = buildTerms(b, *this);
  Type type = tensorType(logits).getElementType();
  int64_t vocabulary = tensorType(logits).getShape().back(),
          hidden = tensorType(getInput()).getShape().back();
  int64_t rows = elementCount(getTargets());
  double smoothing = getLabelSmoothing().convertToDouble();
  auto spread = [&](Value row) { return b.broadcastLast(row, vocabulary); };
  Value zero = b.splat(getLse(), 0.0);
  Value dLoss = b.select(counted, getLossCotangent(), zero);
  Value dZ = b.scale(b.mul(b.select(counted, getZLossCotangent(), zero), getLse()),
                     2.0 * getZLoss().convertToDouble());
  Value probabilities = b.exp(b.sub(logits, spread(getLse())));
  Value wanted = b.addScalar(b.scale(b.cast(target, type), 1.0 - smoothing), smoothing / vocabulary);
  Value dLogits = b.add(b.mul(spread(dLoss), b.sub(probabilities, wanted)), b.mul(spread(dZ), probabilities));
  if (double cap = getSoftcap().convertToDouble(); cap != 0.0)
    dLogits = b.mul(dLogits, b.sub(b.splat(logits, 1.0), b.square(b.scale(logits, 1.0 / cap))));
  Value flat = b.reshape(dLogits, {rows, vocabulary});
  Value x = b.reshape(b.cast(getInput(), type), {rows, hidden}), w = b.cast(getWeight(), type);
  Value dx = b.reshape(b.einsum("rv,vh->rh", flat, w, type), tensorType(getInput()).getShape());
  Value dw = b.einsum("rv,rh->vh", flat, x, type);
  return {b.castTo(dx, getInputCotangent()), b.castTo(dw, getWeightCotangent())};
}
ShardingRule LinearCrossEntropyBackwardOp::shardingRule() {
  return makeShardingRule(*this, {"A", "A", "Ah", "vh", "A", "A"}, {"Ah", "vh"},
                          tensorType(getTargets()).getRank(), "vh",
                          {false, false, false, false, false, false});
}
int64_t LinearCrossEntropyBackwardOp::flops() {
  return (6 * tensorType(getInput()).getShape().back() + 6) * elementCount(getTargets()) *
         tensorType(getWeight()).getDimSize(0);
}
