//===- Norm.cpp - Normalizations and rotary embedding -----------------------===//
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

using namespace mlir;
using namespace weft::nn;
namespace dist = weft::dist;

#define GET_OP_CLASSES
#include "dialects/nn/NnNorm.cpp.inc"

void NnDialect::registerNormOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnNorm.cpp.inc"
      >();
}

namespace {
/// Statistics are taken in float32, or in float64 for f64 inputs.
Type statisticsType(Value input) {
  Type element = tensorType(input).getElementType();
  return element.isF64() ? element : Type(Float32Type::get(input.getContext()));
}
RankedTensorType rowType(Value input) {
  return RankedTensorType::get(tensorType(input).getShape().drop_back(), statisticsType(input));
}
int64_t lastSize(Value value) { return tensorType(value).getShape().back(); }

LogicalResult expectType(Operation *op, StringRef what, Value value, RankedTensorType wanted) {
  if (dist::withoutPlacement(tensorType(value)) != dist::withoutPlacement(wanted))
    return op->emitOpError() << "expects " << what << " of type " << wanted << ", got " << value.getType();
  return success();
}
LogicalResult expectShape(Operation *op, StringRef what, Value value, ArrayRef<int64_t> shape) {
  if (tensorType(value).getShape() != shape)
    return op->emitOpError() << "expects " << what << " of shape "
                             << RankedTensorType::get(shape, tensorType(value).getElementType()) << ", got "
                             << value.getType();
  return success();
}
/// Checks a norm's operands: at least one dimension, row parameters of the last size, row statistics.
LogicalResult verifyNorm(Operation *op, Value input, ArrayRef<std::pair<StringRef, Value>> rowParameters,
                         ArrayRef<std::pair<StringRef, Value>> statistics) {
  if (tensorType(input).getRank() == 0)
    return op->emitOpError() << "expects an input of at least one dimension";
  for (auto [what, value] : rowParameters)
    if (failed(expectShape(op, what, value, {lastSize(input)})))
      return failure();
  for (auto [what, value] : statistics)
    if (failed(expectType(op, what, value, rowType(input))))
      return failure();
  return success();
}
/// The weight repeated over the rows of `like`, in the statistics type, offset added: in this order, so that
/// a region over the rows reads the stored weight.
Value spreadWeight(ValueBuilder &b, Value weight, double offset, Value like) {
  Value rows = b.broadcastRow(weight, tensorType(like).getShape());
  return b.addScalar(b.castTo(rows, like), offset);
}
} // namespace

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::verify() {
  if (failed(verifyNorm(*this, getInput(), {{"the weight", getWeight()}}, {{"rstd", getRstd()}})))
    return failure();
  return expectType(*this, "a result", getResult(), tensorType(getInput()));
}
SmallVector<Value> RmsNormOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Value x = b.cast(getInput(), statisticsType(getInput()));
  Value rstd = b.rsqrt(b.addScalar(b.meanLast(b.square(x)), getEpsilon().convertToDouble()));
  Value normalized = b.mul(x, b.broadcastLast(rstd, lastSize(x)));
  Value y = b.mul(normalized, spreadWeight(b, getWeight(), getWeightOffset().convertToDouble(), x));
  return {b.castTo(y, getInput()), rstd};
}
void RmsNormOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!cotangents[0])
    return;
  ValueBuilder b(context.builder, getLoc());
  auto backward =
      b.create<RmsNormBackwardOp>(getInput().getType(), context.cotangentType(1), cotangents[0], getInput(),
                                  getWeight(), getRstd(), getEpsilonAttr(), getWeightOffsetAttr());
  out[0] = b.cast(backward.getInputCotangent(), context.cotangentType(0).getElementType());
  out[1] = backward.getWeightCotangent();
}
ShardingRule RmsNormOp::shardingRule() {
  return makeShardingRule(*this, {"Ah", "h"}, {"Ah", "A"}, tensorType(getInput()).getRank() - 1, "h",
                          {false, false});
}
int64_t RmsNormOp::flops() { return 5 * elementCount(getInput()); }

LogicalResult RmsNormBackwardOp::verify() {
  if (failed(verifyNorm(*this, getInput(),
                        {{"the weight", getWeight()}, {"the weight's cotangent", getWeightCotangent()}},
                        {{"rstd", getRstd()}})))
    return failure();
  if (failed(expectShape(*this, "a cotangent", getCotangent(), tensorType(getInput()).getShape())))
    return failure();
  return expectShape(*this, "an input cotangent", getInputCotangent(), tensorType(getInput()).getShape());
}
SmallVector<Value> RmsNormBackwardOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Type statistics = statisticsType(getInput());
  Value x = b.cast(getInput(), statistics), dy = b.cast(getCotangent(), statistics);
  int64_t size = lastSize(x);
  Value rstd = b.broadcastLast(getRstd(), size);
  Value normalized = b.mul(x, rstd);
  Value g = b.mul(dy, spreadWeight(b, getWeight(), getWeightOffset().convertToDouble(), x));
  Value projection = b.broadcastLast(b.meanLast(b.mul(g, normalized)), size);
  Value dx = b.mul(rstd, b.sub(g, b.mul(normalized, projection)));
  Value dw = b.sumRows(b.mul(dy, normalized));
  return {b.castTo(dx, getInputCotangent()), b.castTo(dw, getWeightCotangent())};
}
ShardingRule RmsNormBackwardOp::shardingRule() {
  return makeShardingRule(*this, {"Ah", "Ah", "h", "A"}, {"Ah", "h"}, tensorType(getInput()).getRank() - 1,
                          "h", {true, false, false, false});
}
int64_t RmsNormBackwardOp::flops() { return 9 * elementCount(getInput()); }

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  if (failed(verifyNorm(*this, getInput(), {{"the weight", getWeight()}, {"the bias", getBias()}},
                        {{"the mean", getMean()}, {"rstd", getRstd()}})))
    return failure();
  return expectType(*this, "a result", getResult(), tensorType(getInput()));
}
SmallVector<Value> LayerNormOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Value x = b.cast(getInput(), statisticsType(getInput()));
  int64_t size = lastSize(x);
  Value mean = b.meanLast(x);
  Value centered = b.sub(x, b.broadcastLast(mean, size));
  Value rstd = b.rsqrt(b.addScalar(b.meanLast(b.square(centered)), getEpsilon().convertToDouble()));
  Value scaled = b.mul(b.mul(centered, b.broadcastLast(rstd, size)), spreadWeight(b, getWeight(), 0.0, x));
  Value y = b.add(scaled, spreadWeight(b, getBias(), 0.0, x));
  return {b.castTo(y, getInput()), mean, rstd};
}
void LayerNormOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!cotangents[0])
    return;
  ValueBuilder b(context.builder, getLoc());
  auto backward = b.create<LayerNormBackwardOp>(getInput().getType(), context.cotangentType(1),
                                                context.cotangentType(2), cotangents[0], getInput(),
                                                getWeight(), getMean(), getRstd(), getEpsilonAttr());
  out[0] = b.cast(backward.getInputCotangent(), context.cotangentType(0).getElementType());
  out[1] = backward.getWeightCotangent();
  out[2] = backward.getBiasCotangent();
}
ShardingRule LayerNormOp::shardingRule() {
  return makeShardingRule(*this, {"Ah", "h", "h"}, {"Ah", "A", "A"}, tensorType(getInput()).getRank() - 1,
                          "h", {false, false, false});
}
int64_t LayerNormOp::flops() { return 8 * elementCount(getInput()); }

LogicalResult LayerNormBackwardOp::verify() {
  if (failed(verifyNorm(*this, getInput(),
                        {{"the weight", getWeight()},
                         {"the weight's cotangent", getWeightCotangent()},
                         {"the bias's cotangent", getBiasCotangent()}},
                        {{"the mean", getMean()}, {"rstd", getRstd()}})))
    return failure();
  if (failed(expectShape(*this, "a cotangent", getCotangent(), tensorType(getInput()).getShape())))
    return failure();
  return expectShape(*this, "an input cotangent", getInputCotangent(), tensorType(getInput()).getShape());
}
SmallVector<Value> LayerNormBackwardOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Type statistics = statisticsType(getInput());
  Value x = b.cast(getInput(), statistics), dy = b.cast(getCotangent(), statistics);
  int64_t size = lastSize(x);
  Value rstd = b.broadcastLast(getRstd(), size);
  Value normalized = b.mul(b.sub(x, b.broadcastLast(getMean(), size)), rstd);
  Value g = b.mul(dy, spreadWeight(b, getWeight(), 0.0, x));
  Value mean = b.broadcastLast(b.meanLast(g), size);
  Value projection = b.broadcastLast(b.meanLast(b.mul(g, normalized)), size);
  Value dx = b.mul(rstd, b.sub(b.sub(g, mean), b.mul(normalized, projection)));
  return {b.castTo(dx, getInputCotangent()), b.castTo(b.sumRows(b.mul(dy, normalized)), getWeightCotangent()),
          b.castTo(b.sumRows(dy), getBiasCotangent())};
}
ShardingRule LayerNormBackwardOp::shardingRule() {
  return makeShardingRule(*this, {"Ah", "Ah", "h", "A", "A"}, {"Ah", "h", "h"},
                          tensorType(getInput()).getRank() - 1, "h", {true, false, false, false, false});
}
int64_t LayerNormBackwardOp::flops() { return 11 * elementCount(getInput()); }

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

LogicalResult RopeOp::verify() {
  RankedTensorType input = tensorType(getInput()), cosine = tensorType(getCosine());
  if (input.getRank() != 4)
    return emitOpError() << "expects an input [batch, sequence, heads, dimension], got " << input;
  if (failed(expectType(*this, "a result", getResult(), input)) ||
      failed(expectType(*this, "a sine table", getSine(), cosine)))
    return failure();
  ArrayRef<int64_t> leading = input.getShape().take_front(2);
  bool perPosition = cosine.getRank() == 2 && cosine.getDimSize(0) == leading[1];
  bool perSample = cosine.getRank() == 3 && cosine.getShape().take_front(2) == leading;
  if (!perPosition && !perSample)
    return emitOpError() << "expects tables [sequence, r/2] or [batch, sequence, r/2] for " << input
                         << ", got " << cosine;
  if (2 * cosine.getShape().back() > input.getDimSize(3))
    return emitOpError() << "rotates " << 2 * cosine.getShape().back() << " of " << input.getDimSize(3)
                         << " dimensions: the tables are too wide";
  return success();
}

namespace {
/// The table [s, r/2] or [b, s, r/2] repeated to [b, s, n, r/2].
Value spreadTable(ValueBuilder &b, Value table, ArrayRef<int64_t> inputShape) {
  int64_t half = tensorType(table).getShape().back();
  SmallVector<int64_t> shape = {inputShape[0], inputShape[1], inputShape[2], half};
  if (tensorType(table).getRank() == 2)
    return b.broadcast(table, shape, {1, 3});
  return b.broadcast(table, shape, {0, 1, 3});
}
} // namespace

SmallVector<Value> RopeOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Value x = b.cast(getInput(), statisticsType(getInput()));
  ArrayRef<int64_t> shape = tensorType(x).getShape();
  int64_t half = tensorType(getCosine()).getShape().back(), rotated = 2 * half;
  Type type = tensorType(x).getElementType();
  Value cosine = b.cast(spreadTable(b, getCosine(), shape), type);
  Value sine = b.cast(spreadTable(b, getSine(), shape), type);
  if (getInverse())
    sine = b.neg(sine);
  SmallVector<int64_t> halfShape = {shape[0], shape[1], shape[2], half};
  Value first, second;
  if (getInterleaved()) {
    Value pairs = b.reshape(b.slice(x, {0, 0, 0, 0}, {shape[0], shape[1], shape[2], rotated}),
                            {shape[0], shape[1], shape[2], half, 2});
    SmallVector<int64_t> pairShape = {shape[0], shape[1], shape[2], half, 1};
    first = b.reshape(b.slice(pairs, {0, 0, 0, 0, 0}, pairShape), halfShape);
    second = b.reshape(b.slice(pairs, {0, 0, 0, 0, 1}, pairShape), halfShape);
  } else {
    first = b.slice(x, {0, 0, 0, 0}, halfShape);
    second = b.slice(x, {0, 0, 0, half}, halfShape);
  }
  Value newFirst = b.sub(b.mul(first, cosine), b.mul(second, sine));
  Value newSecond = b.add(b.mul(second, cosine), b.mul(first, sine));
  Value result;
  if (getInterleaved()) {
    SmallVector<int64_t> pairShape = {shape[0], shape[1], shape[2], half, 1};
    Value pairs = b.concatenate({b.reshape(newFirst, pairShape), b.reshape(newSecond, pairShape)}, 4);
    result = b.reshape(pairs, {shape[0], shape[1], shape[2], rotated});
  } else {
    result = b.concatenate({newFirst, newSecond}, 3);
  }
  if (rotated < shape[3])
    result = b.concatenate(
        {result, b.slice(x, {0, 0, 0, rotated}, {shape[0], shape[1], shape[2], shape[3] - rotated})}, 3);
  return {b.castTo(result, getInput())};
}
/// A rotation's transpose is the rotation by the negative angle.
void RopeOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!cotangents[0] || !context.needsCotangent(0))
    return;
  ValueBuilder b(context.builder, getLoc());
  UnitAttr inverse = getInverse() ? UnitAttr() : b.builder.getUnitAttr();
  Value rotated = b.create<RopeOp>(cotangents[0].getType(), cotangents[0], getCosine(), getSine(), inverse,
                                   getInterleavedAttr());
  out[0] = b.cast(rotated, context.cotangentType(0).getElementType());
}
ShardingRule RopeOp::shardingRule() {
  StringRef table = tensorType(getCosine()).getRank() == 2 ? "sr" : "bsr";
  return makeShardingRule(*this, {"bsnd", table, table}, {"bsnd"}, 0, "dr", {true, false, false});
}
int64_t RopeOp::flops() { return 3 * elementCount(getInput()); }
