//===- Attention.cpp - Attention: meaning, backward, checks, rules ----------===//
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

#include <limits>

using namespace mlir;
using namespace weft::nn;
namespace dist = weft::dist;

#define GET_OP_CLASSES
#include "dialects/nn/NnAttention.cpp.inc"

void NnDialect::registerAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnAttention.cpp.inc"
      >();
}

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Type statisticsType(Value value) {
  Type element = tensorType(value).getElementType();
  return element.isF64() ? element : Type(Float32Type::get(value.getContext()));
}

/// Sizes of an attention, read from its operands.
struct Sizes {
  int64_t batch, queries, heads, dimension, keys, groups, valueDimension;
  template <typename OpTy> explicit Sizes(OpTy op) {
    ArrayRef<int64_t> q = tensorType(op.getQuery()).getShape(), k = tensorType(op.getKey()).getShape();
    batch = q[0], queries = q[1], heads = q[2], dimension = q[3], keys = k[1], groups = k[2];
    valueDimension = tensorType(op.getValue()).getShape()[3];
  }
  int64_t headsPerGroup() const { return heads / groups; }
};

/// The checks that forward and backward share.
template <typename OpTy> LogicalResult verifyAttention(OpTy op) {
  RankedTensorType q = tensorType(op.getQuery()), k = tensorType(op.getKey()), v = tensorType(op.getValue());
  if (q.getRank() != 4 || k.getRank() != 4 || v.getRank() != 4)
    return op.emitOpError()
           << "expects query, key and value of rank 4 [batch, sequence, heads, dimension], got " << q << ", "
           << k << ", " << v;
  Sizes sizes(op);
  if (k.getDimSize(0) != sizes.batch || k.getDimSize(3) != sizes.dimension)
    return op.emitOpError() << "expects a key [" << sizes.batch << ", keys, groups, " << sizes.dimension
                            << "], got " << k;
  if (v.getShape().take_front(3) != k.getShape().take_front(3))
    return op.emitOpError() << "expects a value with the key's batch, positions and groups, got " << v
                            << " for key " << k;
  if (q.getElementType() != k.getElementType() || q.getElementType() != v.getElementType())
    return op.emitOpError() << "expects query, key and value of one element type, got " << q << ", " << k
                            << ", " << v;
  if (sizes.groups == 0 || sizes.heads % sizes.groups != 0)
    return op.emitOpError() << "expects heads (" << sizes.heads << ") to be a multiple of groups ("
                            << sizes.groups << ")";
  if (static_cast<int64_t>(op.getWindow()) < 0 || !(op.getSoftcap().convertToDouble() >= 0.0))
    return op.emitOpError() << "expects a window and a softcap of at least 0";
  for (auto [what, ofQuery, ofKey] :
       {std::tuple("segments", Value(op.getQuerySegments()), Value(op.getKeySegments())),
        std::tuple("positions", Value(op.getQueryPositions()), Value(op.getKeyPositions()))}) {
    if (static_cast<bool>(ofQuery) != static_cast<bool>(ofKey))
      return op.emitOpError() << "expects " << what << " of both query and key, or of neither";
    if (ofQuery && (tensorType(ofQuery).getShape() != ArrayRef<int64_t>({sizes.batch, sizes.queries}) ||
                    tensorType(ofKey).getShape() != ArrayRef<int64_t>({sizes.batch, sizes.keys})))
      return op.emitOpError() << "expects " << what << " [" << sizes.batch << ", " << sizes.queries
                              << "] of the query and [" << sizes.batch << ", " << sizes.keys
                              << "] of the key, got " << ofQuery.getType() << " and " << ofKey.getType();
  }
  if (Value sinks = op.getSinks())
    if (tensorType(sinks).getShape() != ArrayRef<int64_t>({sizes.heads}))
      return op.emitOpError() << "expects one sink per head (" << sizes.heads << "), got " << sinks.getType();
  if (op.getRing()) {
    if (dist::isLocal(q))
      return op.emitOpError()
             << "is marked ring, which is of the global view; what one rank runs of it is a dist.ring";
    if (!op.getQueryPositions())
      return op.emitOpError()
             << "is marked ring, where keys come in any order, and lacks positions of query and key";
    if (sizes.queries != sizes.keys)
      return op.emitOpError() << "is marked ring, where queries and keys are split alike, and has "
                              << sizes.queries << " queries for " << sizes.keys << " keys";
  }
  RankedTensorType lse =
      RankedTensorType::get({sizes.batch, sizes.heads, sizes.queries}, statisticsType(op.getQuery()));
  if (dist::withoutPlacement(tensorType(op.getLse())) != lse)
    return op.emitOpError() << "expects a log-sum-exp of type " << lse << ", got " << op.getLse().getType();
  return success();
}

/// The attended values: [batch, queries, heads, value dimension], in the query's element type or, where they
/// are to be merged with others, in that of the statistics.
template <typename OpTy> LogicalResult verifyOutput(OpTy op, StringRef what, Value output) {
  Sizes sizes(op);
  auto wanted = RankedTensorType::get({sizes.batch, sizes.queries, sizes.heads, sizes.valueDimension},
                                      tensorType(op.getQuery()).getElementType());
  RankedTensorType found = dist::withoutPlacement(tensorType(output));
  if (found != wanted && found != wanted.clone(statisticsType(op.getQuery())))
    return op.emitOpError() << "expects " << what << " of type " << wanted << ", got " << output.getType();
  return success();
}

/// Scores after the soft cap, [batch, heads, queries, keys], their mask, and what the backward needs of them.
struct Scores {
  Value value, visible;
};

/// How far each query is behind each key, and a distance that none reaches.
template <typename OpTy>
std::pair<Value, uint64_t> buildDistance(ValueBuilder &b, OpTy op, const Sizes &sizes,
                                         ArrayRef<int64_t> shape) {
  if (!op.getQueryPositions()) {
    Type i32 = b.builder.getI32Type();
    Value row = b.addScalar(b.iota(shape, i32, 2), static_cast<double>(sizes.keys - sizes.queries));
    return {b.sub(row, b.iota(shape, i32, 3)), sizes.keys + sizes.queries};
  }
  // The distance of two positions has one bit more than they.
  auto wide = [&](Value positions, int64_t dimension) {
    return b.broadcast(b.cast(positions, b.builder.getI64Type()), shape, {0, dimension});
  };
  return {b.sub(wide(op.getQueryPositions(), 2), wide(op.getKeyPositions(), 3)), uint64_t(1) << 32};
}

template <typename OpTy>
Value buildMask(ValueBuilder &b, OpTy op, const Sizes &sizes, ArrayRef<int64_t> shape) {
  Value visible;
  auto restrict = [&](Value condition) { visible = visible ? b.logicalAnd(visible, condition) : condition; };
  if (op.getCausal() || op.getWindow() != 0) {
    auto [distance, longest] = buildDistance(b, op, sizes, shape);
    if (op.getCausal())
      restrict(b.compare(Comparison::ge, distance, b.splat(distance, 0)));
    if (op.getWindow() != 0)
      restrict(
          b.compare(Comparison::lt, distance,
                    b.splat(distance, static_cast<double>(std::min<uint64_t>(op.getWindow(), longest)))));
  }
  if (op.getQuerySegments())
    restrict(b.compare(Comparison::eq, b.broadcast(op.getQuerySegments(), shape, {0, 2}),
                       b.broadcast(op.getKeySegments(), shape, {0, 3})));
  return visible ? visible : b.constant(b.type(shape, b.builder.getI1Type()), 1);
}

template <typename OpTy> Scores buildScores(ValueBuilder &b, OpTy op, Value q, Value k) {
  Sizes sizes(op);
  Type type = tensorType(q).getElementType();
  SmallVector<int64_t> shape = {sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  Value grouped =
      b.reshape(q, {sizes.batch, sizes.queries, sizes.groups, sizes.headsPerGroup(), sizes.dimension});
  Value scores = b.reshape(b.einsum("bsgrd,btgd->bgrst", grouped, k, type), shape);
  scores = b.scale(scores, op.getScale().convertToDouble());
  if (double cap = op.getSoftcap().convertToDouble(); cap != 0.0)
    scores = b.scale(b.tanh(b.scale(scores, 1.0 / cap)), cap);
  return {scores, buildMask(b, op, sizes, shape)};
}

/// A row statistic [batch, heads, queries] repeated over the keys.
Value overKeys(ValueBuilder &b, Value rows, int64_t keys) { return b.broadcastLast(rows, keys); }

/// Factors of a product of bf16 operands are bf16: what tiles of a processor multiply.
Value roundFactors(ValueBuilder &b, Value factors, ValueRange operands) {
  if (!llvm::all_of(operands, [](Value operand) { return tensorType(operand).getElementType().isBF16(); }))
    return factors;
  return b.cast(b.cast(factors, b.builder.getBF16Type()), tensorType(factors).getElementType());
}

/// weights [b, n, s, t] times values [b, t, g, e], grouped -> [b, s, n, e].
Value weightValues(ValueBuilder &b, const Sizes &sizes, Value weights, Value values) {
  int64_t last = tensorType(values).getShape()[3];
  Value grouped =
      b.reshape(weights, {sizes.batch, sizes.groups, sizes.headsPerGroup(), sizes.queries, sizes.keys});
  Value result = b.einsum("bgrst,btge->bsgre", grouped, values, tensorType(values).getElementType());
  return b.reshape(result, {sizes.batch, sizes.queries, sizes.heads, last});
}

/// weights [b, n, s, t] times rows [b, s, n, e], summed over queries and the heads of a group -> [b, t, g,
/// e].
Value weightRows(ValueBuilder &b, const Sizes &sizes, Value weights, Value rows) {
  int64_t last = tensorType(rows).getShape()[3];
  Value grouped =
      b.reshape(weights, {sizes.batch, sizes.groups, sizes.headsPerGroup(), sizes.queries, sizes.keys});
  Value groupedRows =
      b.reshape(rows, {sizes.batch, sizes.queries, sizes.groups, sizes.headsPerGroup(), last});
  return b.einsum("bgrst,bsgre->btge", grouped, groupedRows, tensorType(rows).getElementType());
}

template <typename OpTy> ShardingRule attentionRule(OpTy op, bool backward) {
  // Heads are groups times the heads of a group: axes split groups first, then the heads of one group, whose
  // key and value every part then has.
  SmallVector<std::string> operands, results;
  std::string head = "(gr)", group = "g";
  // In a ring the keys are split as the queries are: each rank meets all of them, one block after the other.
  std::string t = op.getRing() ? "bs" : "bt";
  std::string q = "bs" + head + "d", k = t + group + "d", v = t + group + "e", o = "bs" + head + "e",
              lse = "b" + head + "s";
  if (backward)
    operands = {o, q, k, v, o, lse}, results = {q, k, v};
  else
    operands = {q, k, v}, results = {o, lse};
  if (op.getQuerySegments())
    operands.push_back("bs"), operands.push_back(t);
  if (op.getQueryPositions())
    operands.push_back("bs"), operands.push_back(t);
  if (op.getSinks()) {
    operands.push_back(head);
    if (backward)
      results.push_back(head);
  }
  SmallVector<StringRef> operandTerms(operands.begin(), operands.end()),
      resultTerms(results.begin(), results.end());
  SmallVector<bool> linear(operands.size(), false);
  // The forward is linear in the value, but its second result, the log-sum-exp, is not: no pending value
  // passes.
  // A query that knows its position needs none of the other queries.
  return makeShardingRule(op, operandTerms, resultTerms, 0, op.getQueryPositions() ? "tde" : "stde", linear);
}
} // namespace

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  if (failed(verifyAttention(*this)))
    return failure();
  return verifyOutput(*this, "a result", getResult());
}

SmallVector<Value> AttentionOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Sizes sizes(*this);
  Type type = statisticsType(getQuery());
  Value q = b.cast(getQuery(), type), k = b.cast(getKey(), type), v = b.cast(getValue(), type);
  auto [scores, visible] = buildScores(b, *this, q, k);
  Value seen = b.select(visible, scores, b.splat(scores, -kInfinity));
  Value largest = b.maxLast(seen);
  Value sinks;
  if (getSinks()) {
    sinks = b.broadcast(b.cast(getSinks(), type), tensorType(largest).getShape(), {1});
    largest = b.maximum(largest, sinks);
  }
  // A row that sees nothing has no maximum; 0 keeps its arithmetic finite.
  largest = b.select(b.isFinite(largest), largest, b.splat(largest, 0.0));
  Value weights = b.exp(b.sub(seen, overKeys(b, largest, sizes.keys)));
  Value total = b.sumLast(weights);
  if (sinks)
    total = b.add(total, b.exp(b.sub(sinks, largest)));
  Value lse = b.add(b.log(total), largest);
  Value divisor = b.select(b.compare(Comparison::eq, total, b.splat(total, 0.0)), b.splat(total, 1.0), total);
  // Before the division, as blocks do, which divide last. The sum is that of what was not rounded.
  weights = roundFactors(b, weights, {getQuery(), getKey(), getValue()});
  Value probabilities = b.div(weights, overKeys(b, divisor, sizes.keys));
  return {b.castTo(weightValues(b, sizes, probabilities, v), getResult()), lse};
}

void AttentionOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!cotangents[0])
    return;
  ValueBuilder b(context.builder, getLoc());
  unsigned sinkIndex = getSinks() ? getNumOperands() - 1 : 0;
  SmallVector<Type> types = {context.cotangentType(0), context.cotangentType(1), context.cotangentType(2)};
  if (getSinks())
    types.push_back(context.cotangentType(sinkIndex));
  auto backward = b.create<AttentionBackwardOp>(
      types, cotangents[0], getQuery(), getKey(), getValue(), getResult(), getLse(), getQuerySegments(),
      getKeySegments(), getQueryPositions(), getKeyPositions(), getSinks(), getScaleAttr(), getCausalAttr(),
      getWindowAttr(), getSoftcapAttr(), getRingAttr());
  for (unsigned index = 0; index < 3; ++index)
    out[index] = backward.getResult(index);
  if (getSinks())
    out[sinkIndex] = backward.getSinksCotangent();
}
ShardingRule AttentionOp::shardingRule() { return attentionRule(*this, false); }
/// Two products over the visible half (causal) or all of the scores, and the softmax.
int64_t AttentionOp::flops() {
  Sizes sizes(*this);
  int64_t scores = sizes.batch * sizes.heads * sizes.queries * sizes.keys / (getCausal() ? 2 : 1);
  return scores * (2 * sizes.dimension + 2 * sizes.valueDimension + 5);
}

//===----------------------------------------------------------------------===//
// attention_backward
//===----------------------------------------------------------------------===//

LogicalResult AttentionBackwardOp::verify() {
  if (failed(verifyAttention(*this)) || failed(verifyOutput(*this, "an output", getOutput())))
    return failure();
  for (auto [what, value, like] :
       {std::tuple("a query cotangent", getQueryCotangent(), getQuery()),
        std::tuple("a key cotangent", getKeyCotangent(), getKey()),
        std::tuple("a value cotangent", getValueCotangent(), getValue()),
        std::tuple("a cotangent", TypedValue<RankedTensorType>(getCotangent()), getOutput())})
    if (tensorType(value).getShape() != tensorType(like).getShape())
      return emitOpError() << "expects " << what << " of the shape of " << like.getType() << ", got "
                           << value.getType();
  if (static_cast<bool>(getSinks()) != static_cast<bool>(getSinksCotangent()))
    return emitOpError() << "expects a cotangent of the sinks exactly if there are sinks";
  if (getSinks() && tensorType(getSinksCotangent()).getShape() != tensorType(getSinks()).getShape())
    return emitOpError() << "expects a sinks cotangent of the shape of " << getSinks().getType() << ", got "
                         << getSinksCotangent().getType();
  return success();
}

SmallVector<Value> AttentionBackwardOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Sizes sizes(*this);
  Type type = statisticsType(getQuery());
  Value q = b.cast(getQuery(), type), k = b.cast(getKey(), type), v = b.cast(getValue(), type);
  Value dOut = b.cast(getCotangent(), type), out = b.cast(getOutput(), type);
  auto [scores, visible] = buildScores(b, *this, q, k);
  Value lse = b.select(b.isFinite(getLse()), getLse(), b.splat(getLse(), 0.0));
  Value seen = b.select(visible, scores, b.splat(scores, -kInfinity));
  Value probabilities = b.exp(b.sub(seen, overKeys(b, lse, sizes.keys)));
  Value rowDot = b.transpose(b.sumLast(b.mul(dOut, out)), {0, 2, 1}); // [b, n, s]
  // do v^T: [b, n, s, t]
  Value grouped = b.reshape(
      dOut, {sizes.batch, sizes.queries, sizes.groups, sizes.headsPerGroup(), sizes.valueDimension});
  Value dWeights = b.reshape(b.einsum("bsgre,btge->bgrst", grouped, v, type), tensorType(scores).getShape());
  Value dScores = b.mul(probabilities, b.sub(dWeights, overKeys(b, rowDot, sizes.keys)));
  if (double cap = getSoftcap().convertToDouble(); cap != 0.0)
    dScores = b.mul(dScores, b.sub(b.splat(scores, 1.0), b.square(b.scale(scores, 1.0 / cap))));
  const SmallVector<Value> factors = {getQuery(), getKey(), getValue(), getCotangent()};
  dScores = roundFactors(b, b.scale(dScores, getScale().convertToDouble()), factors);
  probabilities = roundFactors(b, probabilities, factors);
  SmallVector<Value> results = {b.castTo(weightValues(b, sizes, dScores, k), getQueryCotangent()),
                                b.castTo(weightRows(b, sizes, dScores, q), getKeyCotangent()),
                                b.castTo(weightRows(b, sizes, probabilities, dOut), getValueCotangent())};
  if (getSinks()) {
    Value sinks = b.broadcast(b.cast(getSinks(), type), tensorType(lse).getShape(), {1});
    Value sinkWeights = b.exp(b.sub(sinks, lse));
    results.push_back(b.castTo(b.neg(b.sum(b.mul(sinkWeights, rowDot), {0, 2})), getSinksCotangent()));
  }
  return results;
}
ShardingRule AttentionBackwardOp::shardingRule() { return attentionRule(*this, true); }
int64_t AttentionBackwardOp::flops() {
  Sizes sizes(*this);
  int64_t scores = sizes.batch * sizes.heads * sizes.queries * sizes.keys / (getCausal() ? 2 : 1);
  return scores * (6 * sizes.dimension + 4 * sizes.valueDimension + 8);
}
