//===- AttentionMerge.cpp - Partial attentions put together -------------------===//
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

#include <limits>

using namespace mlir;
using namespace weft::nn;
namespace dist = weft::dist;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
} // namespace

LogicalResult AttentionMergeOp::verify() {
  RankedTensorType output = tensorType(getOutput()), lse = tensorType(getLse());
  if (output.getRank() != 4)
    return emitOpError() << "expects outputs of rank 4 [batch, positions, heads, dimension], got " << output;
  ArrayRef<int64_t> shape = output.getShape();
  Type statistics =
      output.getElementType().isF64() ? output.getElementType() : Float32Type::get(getContext());
  auto wanted = RankedTensorType::get({shape[0], shape[2], shape[1]}, statistics);
  if (dist::withoutPlacement(lse) != wanted)
    return emitOpError() << "expects log-sum-exps of type " << wanted << ", got " << lse;
  return success();
}

SmallVector<Value> AttentionMergeOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Type type = tensorType(getLse()).getElementType();
  Value lse = getLse(), other = getOtherLse();
  // Where neither side saw anything there is no maximum; 0 keeps the arithmetic finite.
  Value largest = b.maximum(lse, other), none = b.splat(largest, -kInfinity);
  largest = b.select(b.compare(Comparison::eq, largest, none), b.splat(largest, 0.0), largest);
  Value share = b.exp(b.sub(lse, largest)), otherShare = b.exp(b.sub(other, largest));
  Value total = b.add(share, otherShare);
  Value divisor = b.select(b.compare(Comparison::eq, total, b.splat(total, 0.0)), b.splat(total, 1.0), total);
  auto weighted = [&](Value output, Value weight) {
    Value rows = b.transpose(b.div(weight, divisor), {0, 2, 1}); // [b, s, n]
    return b.mul(b.cast(output, type), b.broadcastLast(rows, tensorType(output).getShape().back()));
  };
  Value merged = b.add(weighted(getOutput(), share), weighted(getOtherOutput(), otherShare));
  return {b.castTo(merged, getResult()), b.add(b.log(total), largest)};
}

ShardingRule AttentionMergeOp::shardingRule() {
  return makeShardingRule(*this, {"bsne", "bns", "bsne", "bns"}, {"bsne", "bns"}, 0, "e",
                          {false, false, false, false});
}

int64_t AttentionMergeOp::flops() { return 3 * elementCount(getOutput()) + 8 * elementCount(getLse()); }
