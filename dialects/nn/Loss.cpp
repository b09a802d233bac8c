//===- Loss.cpp - The loss head: meaning, backward, checks, rules -----------===//
//
// The whole head is one op per direction. Where the vocabulary is split they expand: forward into statistics
// of a part, which merge as log-sum-exp and sums, and a finish per token; backward into its partial form.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

#include <limits>

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

/// The checks of input, weight, targets and values per row that all three ops share.
template <typename OpTy> LogicalResult verifyRows(OpTy op, ArrayRef<std::pair<StringRef, Value>> rows) {
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
  if (!(op.getSoftcap().convertToDouble() >= 0.0))
    return op.emitOpError() << "expects a softcap of at least 0";
  return success();
}

/// And those of the attributes of a loss.
template <typename OpTy> LogicalResult verifyLoss(OpTy op, ArrayRef<std::pair<StringRef, Value>> rows) {
  if (failed(verifyRows(op, rows)))
    return failure();
  double smoothing = op.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0.0 && smoothing < 1.0))
    return op.emitOpError() << "expects 0 <= label_smoothing < 1, got " << smoothing;
  if (!(op.getZLoss().convertToDouble() >= 0.0))
    return op.emitOpError() << "expects a z_loss of at least 0";
  return success();
}

template <typename OpTy> LogicalResult verifyValid(OpTy op) {
  if (op.getValid() && tensorType(op.getValid()).getRank() != 0)
    return op.emitOpError() << "expects a scalar number of valid rows, got " << op.getValid().getType();
  return success();
}

/// i1 of `shape`: true where the index along `dimension`, that of the vocabulary, is of a row that exists.
Value buildExists(ValueBuilder &b, Value valid, ArrayRef<int64_t> shape, int64_t dimension) {
  Value index = b.iota(shape, b.builder.getI64Type(), dimension);
  return b.compare(Comparison::lt, index, b.broadcast(valid, shape, {}));
}

/// [rows..., v], soft-capped.
template <typename OpTy> Value buildLogits(ValueBuilder &b, OpTy op) {
  Type type = statisticsType(op.getInput());
  Value x = b.cast(op.getInput(), type), w = b.cast(op.getWeight(), type);
  ArrayRef<int64_t> shape = tensorType(x).getShape();
  SmallVector<int64_t> logitShape(shape.drop_back());
  logitShape.push_back(tensorType(w).getDimSize(0));
  Value flat = b.reshape(x, {elementCount(op.getTargets()), shape.back()});
  Value logits = b.reshape(b.einsum("rh,vh->rv", flat, w, type), logitShape);
  if (double cap = op.getSoftcap().convertToDouble(); cap != 0.0)
    logits = b.scale(b.tanh(b.scale(logits, 1.0 / cap)), cap);
  return logits;
}

/// i1 in the shape of the logits, true at the target.
Value buildTarget(ValueBuilder &b, Value targets, Value logits) {
  ArrayRef<int64_t> shape = tensorType(logits).getShape();
  Value index = b.iota(shape, b.builder.getI32Type(), static_cast<int64_t>(shape.size()) - 1);
  return b.compare(Comparison::eq, index, b.broadcastLast(targets, shape.back()));
}

/// i1 [rows...], false for ignored rows.
template <typename OpTy> Value buildCounted(ValueBuilder &b, OpTy op) {
  Value targets = op.getTargets();
  auto vocabulary = static_cast<double>(tensorType(op.getWeight()).getDimSize(0));
  Value inRange = b.logicalAnd(b.compare(Comparison::ge, targets, b.splat(targets, 0)),
                               b.compare(Comparison::lt, targets, b.splat(targets, vocabulary)));
  auto ignoreIndex = static_cast<int64_t>(op.getIgnoreIndex()); // negative as a rule; the getter is unsigned
  Value ignored = b.compare(Comparison::eq, targets, b.splat(targets, static_cast<double>(ignoreIndex)));
  return b.logicalAnd(inRange, b.logicalNot(ignored));
}

/// Loss and z_loss from what is known of each row; `mean`, of the logits, is null without label smoothing.
SmallVector<Value> buildLosses(ValueBuilder &b, LinearCrossEntropyOp op, Value lse, Value atTarget,
                               Value mean) {
  double smoothing = op.getLabelSmoothing().convertToDouble();
  Value loss = b.sub(lse, b.scale(atTarget, 1.0 - smoothing));
  if (mean)
    loss = b.sub(loss, b.scale(mean, smoothing));
  Value zero = b.splat(loss, 0.0), counted = buildCounted(b, op);
  Value zLoss = b.scale(b.square(lse), op.getZLoss().convertToDouble());
  return {b.select(counted, loss, zero), b.select(counted, zLoss, zero), lse};
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
  Value logits = buildLogits(b, *this);
  int64_t vocabulary = tensorType(logits).getShape().back();
  Value largest = b.maxLast(logits);
  Value total = b.sumLast(b.exp(b.sub(logits, b.broadcastLast(largest, vocabulary))));
  Value lse = b.add(b.log(total), largest);
  Value atTarget = b.sumLast(b.select(buildTarget(b, getTargets(), logits), logits, b.splat(logits, 0.0)));
  Value mean = getLabelSmoothing().isZero() ? Value() : b.meanLast(logits);
  return buildLosses(b, *this, lse, atTarget, mean);
}

std::optional<int> LinearCrossEntropyOp::mergeableFactor() { return shardingRule().operands[1][0][0]; }

SmallVector<Value> LinearCrossEntropyOp::expand(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Type row = getLse().getType();
  auto statistics = b.create<LinearCrossEntropyStatisticsOp>(row, row, row, getInput(), getWeight(),
                                                             getTargets(), Value(), getSoftcapAttr());
  // A few numbers a row, in float64: the coefficients of z-loss and smoothing are then not rounded to
  // float32.
  Type f64 = builder.getF64Type();
  auto vocabulary = static_cast<double>(tensorType(getWeight()).getDimSize(0));
  Value mean;
  if (!getLabelSmoothing().isZero())
    mean = b.scale(b.cast(statistics.getLogitSum(), f64), 1.0 / vocabulary);
  SmallVector<Value> losses =
      buildLosses(b, *this, b.cast(statistics.getLse(), f64), b.cast(statistics.getTargetLogit(), f64), mean);
  return {b.castTo(losses[0], getLoss()), b.castTo(losses[1], getZLossValue()), statistics.getLse()};
}

void LinearCrossEntropyOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents,
                                    MutableArrayRef<Value> out) {
  if (!cotangents[0] && !cotangents[1])
    return;
  ValueBuilder b(context.builder, getLoc());
  auto orZero = [&](Value cotangent) { return cotangent ? cotangent : b.splat(getLoss(), 0.0); };
  auto backward = b.create<LinearCrossEntropyBackwardOp>(
      context.cotangentType(0), context.cotangentType(1), orZero(cotangents[0]), orZero(cotangents[1]),
      getInput(), getWeight(), getTargets(), getLse(), Value(), getIgnoreIndexAttr(), getLabelSmoothingAttr(),
      getZLossAttr(), getSoftcapAttr(), IntegerAttr());
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
// linear_cross_entropy_statistics
//===----------------------------------------------------------------------===//

LogicalResult LinearCrossEntropyStatisticsOp::verify() {
  if (failed(verifyRows(*this, {{"a log-sum-exp", getLse()},
                                {"a target's logit", getTargetLogit()},
                                {"a sum of logits", getLogitSum()}})))
    return failure();
  return verifyValid(*this);
}

SmallVector<Value> LinearCrossEntropyStatisticsOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Value logits = buildLogits(b, *this), zero = b.splat(logits, 0.0), shown = logits;
  ArrayRef<int64_t> shape = tensorType(logits).getShape();
  if (getValid()) {
    Value exists = buildExists(b, getValid(), shape, static_cast<int64_t>(shape.size()) - 1);
    shown = b.select(exists, logits, b.splat(logits, -std::numeric_limits<double>::infinity()));
    logits = b.select(exists, logits, zero);
  }
  Value largest = b.maxLast(shown);
  if (getValid()) { // the log-sum-exp of nothing is log 0, and not the difference of two infinities
    Value none = b.splat(largest, -std::numeric_limits<double>::infinity());
    largest = b.select(b.compare(Comparison::gt, largest, none), largest, b.splat(largest, 0.0));
  }
  Value total = b.sumLast(b.exp(b.sub(shown, b.broadcastLast(largest, shape.back()))));
  Value atTarget = b.sumLast(b.select(buildTarget(b, getTargets(), logits), logits, zero));
  return {b.add(b.log(total), largest), atTarget, b.sumLast(logits)};
}

ShardingRule LinearCrossEntropyStatisticsOp::shardingRule() {
  int64_t leading = tensorType(getTargets()).getRank();
  if (getValid()) // it counts rows of this very weight
    return makeShardingRule(*this, {"Ah", "vh", "A", ""}, {"A", "A", "A"}, leading, "vh",
                            {false, false, false, false});
  ShardingRule rule =
      makeShardingRule(*this, {"Ah", "vh", "A"}, {"A", "A", "A"}, leading, "h", {false, false, false});
  int vocabulary = rule.operands[1][0][0];
  rule.indices.push_back({vocabulary, 2});
  rule.takesValid.push_back(vocabulary);
  rule.logSumExps.push_back(0);
  return rule;
}
int64_t LinearCrossEntropyStatisticsOp::flops() {
  return (2 * tensorType(getInput()).getShape().back() + 4) * elementCount(getTargets()) *
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
  constexpr int64_t kDefaultIgnoreIndex = -100;
  int64_t vocabulary = dist::wholeShape(tensorType(getWeight()))[0];
  if (getPartOf() && static_cast<int64_t>(*getPartOf()) < vocabulary)
    return emitOpError() << "has " << vocabulary << " words in its weight, more than the "
                         << static_cast<int64_t>(*getPartOf()) << " that it is part_of";
  if (getPartOf() && static_cast<int64_t>(getIgnoreIndex()) != kDefaultIgnoreIndex)
    return emitOpError()
           << "tells ignored rows by their cotangents of 0 if it has part_of, and takes no ignore_index";
  if (getValid() && !getPartOf())
    return emitOpError()
           << "has a number of valid rows, which only a weight that is part_of a vocabulary has";
  return verifyValid(*this);
}

std::optional<int> LinearCrossEntropyBackwardOp::mergeableFactor() {
  return getPartOf() ? std::nullopt : std::optional(shardingRule().operands[3][0][0]);
}

SmallVector<Value> LinearCrossEntropyBackwardOp::expand(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Value counted = buildCounted(b, *this), zero = b.splat(getLse(), 0.0);
  auto partial = b.create<LinearCrossEntropyBackwardOp>(
      getInputCotangent().getType(), getWeightCotangent().getType(),
      b.select(counted, getLossCotangent(), zero), b.select(counted, getZLossCotangent(), zero), getInput(),
      getWeight(), getTargets(), getLse(), Value(), IntegerAttr(), getLabelSmoothingAttr(), getZLossAttr(),
      getSoftcapAttr(), builder.getI64IntegerAttr(tensorType(getWeight()).getDimSize(0)));
  return {partial.getInputCotangent(), partial.getWeightCotangent()};
}

SmallVector<Value> LinearCrossEntropyBackwardOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Value logits = buildLogits(b, *this), target = buildTarget(b, getTargets(), logits);
  Type type = tensorType(logits).getElementType();
  int64_t vocabulary = tensorType(logits).getShape().back(),
          hidden = tensorType(getInput()).getShape().back();
  int64_t rows = elementCount(getTargets());
  double smoothing = getLabelSmoothing().convertToDouble();
  auto words = static_cast<double>(getPartOf().value_or(static_cast<uint64_t>(vocabulary)));
  auto spread = [&](Value row) { return b.broadcastLast(row, vocabulary); };
  Value dLoss = getLossCotangent(), dZ = getZLossCotangent();
  if (!getPartOf()) {
    Value counted = buildCounted(b, *this), zero = b.splat(getLse(), 0.0);
    dLoss = b.select(counted, dLoss, zero);
    dZ = b.select(counted, dZ, zero);
  }
  dZ = b.scale(b.mul(dZ, getLse()), 2.0 * getZLoss().convertToDouble());
  Value probabilities = b.exp(b.sub(logits, spread(getLse())));
  Value wanted = b.addScalar(b.scale(b.cast(target, type), 1.0 - smoothing), smoothing / words);
  Value dLogits = b.add(b.mul(spread(dLoss), b.sub(probabilities, wanted)), b.mul(spread(dZ), probabilities));
  if (double cap = getSoftcap().convertToDouble(); cap != 0.0)
    dLogits = b.mul(dLogits, b.sub(b.splat(logits, 1.0), b.square(b.scale(logits, 1.0 / cap))));
  Value x = b.reshape(b.cast(getInput(), type), {rows, hidden}), w = b.cast(getWeight(), type);
  if (getValid()) {
    ArrayRef<int64_t> shape = tensorType(logits).getShape();
    dLogits = b.select(buildExists(b, getValid(), shape, static_cast<int64_t>(shape.size()) - 1), dLogits,
                       b.splat(dLogits, 0.0));
    w = b.select(buildExists(b, getValid(), {vocabulary, hidden}, 0), w, b.splat(w, 0.0));
  }
  // An operand of products, as x and w are. The range of f16 is too narrow for it.
  if (Type stored = tensorType(getInput()).getElementType(); stored.isBF16())
    dLogits = b.cast(b.cast(dLogits, stored), type);
  Value flat = b.reshape(dLogits, {rows, vocabulary});
  Value dx = b.reshape(b.einsum("rv,vh->rh", flat, w, type), tensorType(getInput()).getShape());
  Value dw = b.einsum("rv,rh->vh", flat, x, type);
  return {b.castTo(dx, getInputCotangent()), b.castTo(dw, getWeightCotangent())};
}
ShardingRule LinearCrossEntropyBackwardOp::shardingRule() {
  int64_t leading = tensorType(getTargets()).getRank();
  if (getValid()) // it counts rows of this very weight
    return makeShardingRule(*this, {"A", "A", "Ah", "vh", "A", "A", ""}, {"Ah", "vh"}, leading, "vh",
                            {false, false, false, false, false, false, false});
  ShardingRule rule = makeShardingRule(*this, {"A", "A", "Ah", "vh", "A", "A"}, {"Ah", "vh"}, leading,
                                       getPartOf() ? "h" : "vh", {false, false, false, false, false, false});
  if (getPartOf()) {
    int vocabulary = rule.operands[3][0][0];
    rule.indices.push_back({vocabulary, 4});
    rule.takesValid.push_back(vocabulary);
  }
  return rule;
}
int64_t LinearCrossEntropyBackwardOp::flops() {
  return (6 * tensorType(getInput()).getShape().back() + 6) * elementCount(getTargets()) *
         tensorType(getWeight()).getDimSize(0);
}
