//===- Shape.cpp - Primitives that move values: checks, derivatives, rules --===//
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft::nn;
namespace dist = weft::dist;

#define GET_OP_CLASSES
#include "dialects/nn/NnShape.cpp.inc"

void NnDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnShape.cpp.inc"
      >();
}

namespace {
LogicalResult verifySameElement(Operation *op, Value a, Value b) {
  if (tensorType(a).getElementType() != tensorType(b).getElementType())
    return op->emitOpError() << "expects one element type, got " << a.getType() << " and " << b.getType();
  return success();
}
LogicalResult verifyLength(Operation *op, StringRef name, ArrayRef<int64_t> values, int64_t rank) {
  if (static_cast<int64_t>(values.size()) != rank)
    return op->emitOpError() << "expects one entry of '" << name << "' per dimension (" << rank << "), got "
                             << values.size();
  return success();
}
bool wants(VjpContext &context, ArrayRef<Value> cotangents, unsigned index) {
  return cotangents[0] && context.needsCotangent(index);
}
/// A rule in which only the listed (operand dimension, result dimension) pairs pass through; all else is
/// whole.
ShardingRule makePairedRule(Operation *op, ArrayRef<std::pair<int64_t, int64_t>> pairs) {
  ArrayRef<int64_t> from = dist::wholeShape(tensorType(op->getOperand(0))),
                    to = dist::wholeShape(tensorType(op->getResult(0)));
  ShardingRule rule;
  rule.operands.emplace_back(from.size());
  rule.results.emplace_back(to.size());
  auto addFactor = [&](int64_t size, FactorKind kind) {
    rule.factors.push_back({size, kind});
    return DimensionFactors{static_cast<int>(rule.factors.size()) - 1};
  };
  for (auto [source, target] : pairs)
    rule.operands[0][source] = rule.results[0][target] = addFactor(from[source], FactorKind::PassThrough);
  for (auto [dimensions, shape] : {std::pair(&rule.operands[0], from), std::pair(&rule.results[0], to)})
    for (auto [factors, size] : llvm::zip_equal(*dimensions, shape))
      if (factors.empty())
        factors = addFactor(size, FactorKind::Replicated);
  rule.linear = {true};
  for (size_t operand = 1; operand < op->getNumOperands(); ++operand) {
    rule.operands.emplace_back(tensorType(op->getOperand(operand)).getRank());
    rule.linear.push_back(false);
  }
  return rule;
}

/// Where a block of a tensor is: what nn.slice reads and nn.update_slice writes.
template <typename OpTy> LogicalResult verifyBlock(OpTy op, Value block) {
  RankedTensorType from = tensorType(op.getOperand()), to = tensorType(block);
  if (failed(verifyLength(op, "offsets", op.getOffsets(), from.getRank())))
    return failure();
  if (to.getRank() != from.getRank())
    return op.emitOpError() << "keeps the rank, got " << from << " -> " << to;
  if (!op.getStarts().empty() && static_cast<int64_t>(op.getStarts().size()) != from.getRank())
    return op.emitOpError() << "expects one start per dimension (" << from.getRank() << ") or none, got "
                            << op.getStarts().size();
  for (Value start : op.getStarts())
    if (tensorType(start).getRank() != 0)
      return op.emitOpError() << "expects scalar starts, got " << start.getType();
  for (auto [index, offset] : llvm::enumerate(op.getOffsets()))
    if (to.getDimSize(index) > from.getDimSize(index) || offset < 0 ||
        (op.getStarts().empty() && offset > from.getDimSize(index) - to.getDimSize(index)))
      return op.emitOpError() << "expects a block inside dimension " << index << " of size "
                              << from.getDimSize(index) << ", got offset " << offset << " and size "
                              << to.getDimSize(index);
  return verifySameElement(op, op.getOperand(), block);
}
} // namespace

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (elementCount(getOperand()) != elementCount(getResult()))
    return emitOpError() << "keeps the number of elements: " << getOperand().getType() << " has "
                         << elementCount(getOperand()) << ", " << getType() << " has "
                         << elementCount(getResult());
  return verifySameElement(*this, getOperand(), getResult());
}
void ReshapeOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  ValueBuilder b(context.builder, getLoc());
  if (wants(context, cotangents, 0))
    out[0] = b.cast(b.reshape(cotangents[0], tensorType(getOperand()).getShape()),
                    context.cotangentType(0).getElementType());
}
OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  return {};
}
/// Factors are the pieces between all places where a prefix product of either side ends, if the pieces of
/// both sides fit together: [a b, c] -> [a, b c] has the factors a, b, c. Where they do not fit, dimensions
/// stay whole.
ShardingRule ReshapeOp::shardingRule() {
  ArrayRef<int64_t> from = dist::wholeShape(tensorType(getOperand())), to = dist::wholeShape(getType());
  ShardingRule rule;
  rule.linear = {true};
  rule.operands.emplace_back(from.size());
  rule.results.emplace_back(to.size());
  size_t i = 0, j = 0;
  int64_t left = from.empty() ? 1 : from[0], right = to.empty() ? 1 : to[0];
  auto addFactor = [&](int64_t size, FactorKind kind) {
    rule.factors.push_back({size, kind});
    return static_cast<int>(rule.factors.size()) - 1;
  };
  while (i < from.size() && j < to.size()) {
    int64_t piece = std::min(left, right);
    bool fits = piece > 0 && left % piece == 0 && right % piece == 0;
    if (!fits)
      break;
    // Minor pieces would come first from this end, so the larger side is cut at its major end.
    int factor = addFactor(piece, FactorKind::PassThrough);
    rule.operands[0][i].push_back(factor);
    rule.results[0][j].push_back(factor);
    left /= piece, right /= piece;
    if (left == 1 && ++i < from.size())
      left = from[i];
    if (right == 1 && ++j < to.size())
      right = to[j];
  }
  // What is left over: sizes of one, or pieces that do not fit.
  for (auto [dimensions, shape] : {std::pair(&rule.operands[0], from), std::pair(&rule.results[0], to)})
    for (auto [factors, size] : llvm::zip_equal(*dimensions, shape)) {
      int64_t covered = 1;
      for (int factor : factors)
        covered *= rule.factors[factor].size;
      if (covered != size || factors.empty()) {
        for (int factor : factors)
          rule.factors[factor].kind = FactorKind::Replicated;
        factors.push_back(addFactor(covered == 0 ? size : size / covered, FactorKind::Replicated));
      }
    }
  return rule;
}
int64_t ReshapeOp::flops() { return 0; }

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  RankedTensorType from = tensorType(getOperand()), to = tensorType(getResult());
  if (failed(verifyLength(*this, "permutation", getPermutation(), from.getRank())))
    return failure();
  SmallVector<bool> seen(from.getRank());
  if (to.getRank() != from.getRank())
    return emitOpError() << "keeps the rank, got " << from << " -> " << to;
  for (auto [index, dimension] : llvm::enumerate(getPermutation())) {
    if (dimension < 0 || dimension >= from.getRank() || seen[dimension])
      return emitOpError() << "expects 'permutation' to name each dimension once, got " << dimension << " at "
                           << index;
    seen[dimension] = true;
    if (to.getDimSize(index) != from.getDimSize(dimension))
      return emitOpError() << "expects size " << from.getDimSize(dimension) << " for result dimension "
                           << index << ", got " << to.getDimSize(index);
  }
  return verifySameElement(*this, getOperand(), getResult());
}
void TransposeOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!wants(context, cotangents, 0))
    return;
  ValueBuilder b(context.builder, getLoc());
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [index, dimension] : llvm::enumerate(getPermutation()))
    inverse[dimension] = index;
  out[0] = b.cast(b.transpose(cotangents[0], inverse), context.cotangentType(0).getElementType());
}
ShardingRule TransposeOp::shardingRule() {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto [index, dimension] : llvm::enumerate(getPermutation()))
    pairs.push_back({dimension, index});
  return makePairedRule(*this, pairs);
}
int64_t TransposeOp::flops() { return 0; }

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = tensorType(getOperand()), to = tensorType(getResult());
  if (failed(verifyLength(*this, "dimensions", getDimensions(), from.getRank())))
    return failure();
  int64_t last = -1;
  for (auto [index, dimension] : llvm::enumerate(getDimensions())) {
    if (dimension <= last || dimension >= to.getRank())
      return emitOpError() << "expects ascending 'dimensions' below the result's rank (" << to.getRank()
                           << "), got " << dimension << " at " << index;
    last = dimension;
    if (to.getDimSize(dimension) != from.getDimSize(index))
      return emitOpError() << "expects size " << from.getDimSize(index) << " for result dimension "
                           << dimension << ", got " << to.getDimSize(dimension);
  }
  return verifySameElement(*this, getOperand(), getResult());
}
void BroadcastOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!wants(context, cotangents, 0))
    return;
  ValueBuilder b(context.builder, getLoc());
  SmallVector<int64_t> added;
  for (int64_t dimension = 0; dimension < tensorType(getResult()).getRank(); ++dimension)
    if (!llvm::is_contained(getDimensions(), dimension))
      added.push_back(dimension);
  out[0] = b.sum(cotangents[0], added, context.cotangentType(0).getElementType());
}
/// A broadcast without new dimensions is its operand.
OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  return {};
}
/// A dimension that the operand lacks passes through freely: each part repeats its own.
ShardingRule BroadcastOp::shardingRule() {
  ShardingRule rule;
  rule.operands.emplace_back();
  rule.results.emplace_back();
  for (auto [dimension, size] : llvm::enumerate(dist::wholeShape(getType()))) {
    rule.factors.push_back({size, FactorKind::PassThrough});
    rule.results[0].push_back({static_cast<int>(dimension)});
  }
  for (int64_t dimension : getDimensions())
    rule.operands[0].push_back({static_cast<int>(dimension)});
  rule.linear = {true};
  return rule;
}
int64_t BroadcastOp::flops() { return 0; }

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() { return verifyBlock(*this, getResult()); }
void SliceOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!wants(context, cotangents, 0))
    return;
  ValueBuilder b(context.builder, getLoc());
  RankedTensorType from = tensorType(getOperand()), to = tensorType(getResult());
  Value g = cotangents[0];
  if (getStarts().empty()) {
    SmallVector<int64_t> high;
    for (auto [index, offset] : llvm::enumerate(getOffsets()))
      high.push_back(from.getDimSize(index) - to.getDimSize(index) - offset);
    g = b.create<PadOp>(b.withElement(getOperand(), to.getElementType()), g, getOffsets(), high,
                        llvm::APFloat(0.0));
  } else {
    // Position by position along each dimension: element i of the operand came from i - start, where that is
    // inside.
    for (int64_t dimension = 0; dimension < from.getRank(); ++dimension) {
      Type i64 = b.builder.getI64Type();
      int64_t size = from.getDimSize(dimension), block = to.getDimSize(dimension);
      Value limit = b.scalar(i64, static_cast<double>(size - block));
      Value start =
          b.add(getStarts()[dimension], b.scalar(i64, static_cast<double>(getOffsets()[dimension])));
      start = b.minimum(b.maximum(start, b.scalar(i64, 0)), limit);
      Value position = b.iota({size}, i64, 0);
      Value index = b.sub(position, b.broadcastScalar(start, position));
      SmallVector<int64_t> toFront = {dimension}, back(from.getRank());
      for (int64_t other = 0; other < from.getRank(); ++other)
        if (other != dimension)
          toFront.push_back(other);
      for (auto [place, other] : llvm::enumerate(toFront))
        back[other] = place;
      Value rows = b.transpose(g, toFront);
      SmallVector<int64_t> shape(tensorType(rows).getShape());
      shape[0] = size;
      Value gathered = b.create<GatherOp>(b.type(shape, to.getElementType()), rows, index);
      g = b.transpose(gathered, back);
    }
  }
  out[0] = b.cast(g, context.cotangentType(0).getElementType());
}
ShardingRule SliceOp::shardingRule() {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t dimension = 0; dimension < tensorType(getOperand()).getRank(); ++dimension)
    if (dist::wholeShape(tensorType(getOperand()))[dimension] == dist::wholeShape(getType())[dimension])
      pairs.push_back({dimension, dimension});
  return makePairedRule(*this, pairs);
}
int64_t SliceOp::flops() { return 0; }

//===----------------------------------------------------------------------===//
// update_slice
//===----------------------------------------------------------------------===//

LogicalResult UpdateSliceOp::verify() {
  if (dist::withoutPlacement(tensorType(getResult())) != dist::withoutPlacement(tensorType(getOperand())))
    return emitOpError() << "gives a tensor like its operand, got " << getOperand().getType() << " -> "
                         << getType();
  return verifyBlock(*this, getUpdate());
}
/// The operand has no share in the block, the update none in the rest.
void UpdateSliceOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  ValueBuilder b(context.builder, getLoc());
  if (wants(context, cotangents, 0)) {
    Value zeros = b.constant(b.withElement(getUpdate(), tensorType(cotangents[0]).getElementType()), 0.0);
    Value rest =
        b.create<UpdateSliceOp>(cotangents[0].getType(), cotangents[0], zeros, getStarts(), getOffsets());
    out[0] = b.cast(rest, context.cotangentType(0).getElementType());
  }
  if (wants(context, cotangents, 1)) {
    Value block = b.create<SliceOp>(b.withElement(getUpdate(), tensorType(cotangents[0]).getElementType()),
                                    cotangents[0], getStarts(), getOffsets());
    out[1] = b.cast(block, context.cotangentType(1).getElementType());
  }
}
/// A dimension that the block covers whole passes through; along any other the whole is needed.
ShardingRule UpdateSliceOp::shardingRule() {
  ArrayRef<int64_t> whole = dist::wholeShape(tensorType(getOperand())),
                    block = dist::wholeShape(tensorType(getUpdate()));
  ShardingRule rule;
  SmallVector<DimensionFactors> ofWhole, ofBlock;
  auto addFactor = [&](int64_t size, FactorKind kind) {
    rule.factors.push_back({size, kind});
    return DimensionFactors{static_cast<int>(rule.factors.size()) - 1};
  };
  for (auto [size, part] : llvm::zip_equal(whole, block)) {
    ofWhole.push_back(addFactor(size, size == part ? FactorKind::PassThrough : FactorKind::Replicated));
    ofBlock.push_back(size == part ? ofWhole.back() : addFactor(part, FactorKind::Replicated));
  }
  rule.operands = {ofWhole, ofBlock};
  rule.operands.resize(getNumOperands()); // starts are scalars
  rule.results = {ofWhole};
  rule.linear.assign(getNumOperands(), false);
  if (!getType().getElementType().isInteger(1)) // i1 has no sum
    rule.jointlyLinear = {0, 1};
  return rule;
}
int64_t UpdateSliceOp::flops() { return 0; }

//===----------------------------------------------------------------------===//
// concatenate
//===----------------------------------------------------------------------===//

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "expects at least one operand";
  RankedTensorType to = tensorType(getResult());
  auto dimension = static_cast<int64_t>(getDimension());
  if (dimension < 0 || dimension >= to.getRank())
    return emitOpError() << "expects a dimension below the rank (" << to.getRank() << "), got " << dimension;
  int64_t total = 0;
  for (Value operand : getInputs()) {
    RankedTensorType from = tensorType(operand);
    if (from.getRank() != to.getRank())
      return emitOpError() << "expects operands of the result's rank, got " << from;
    if (failed(verifySameElement(*this, operand, getResult())))
      return failure();
    for (int64_t index = 0; index < to.getRank(); ++index)
      if (index != dimension && from.getDimSize(index) != to.getDimSize(index))
        return emitOpError() << "expects size " << to.getDimSize(index) << " along dimension " << index
                             << ", got " << from;
    total += from.getDimSize(dimension);
  }
  if (total != to.getDimSize(dimension))
    return emitOpError() << "expects size " << total << " along dimension " << dimension << ", got " << to;
  return success();
}
void ConcatenateOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!cotangents[0])
    return;
  ValueBuilder b(context.builder, getLoc());
  SmallVector<int64_t> offsets(tensorType(getResult()).getRank());
  for (auto [index, operand] : llvm::enumerate(getInputs())) {
    if (context.needsCotangent(index))
      out[index] = b.cast(b.slice(cotangents[0], offsets, tensorType(operand).getShape()),
                          context.cotangentType(index).getElementType());
    offsets[getDimension()] += tensorType(operand).getDimSize(getDimension());
  }
}
ShardingRule ConcatenateOp::shardingRule() {
  ShardingRule rule;
  auto dimension = static_cast<int64_t>(getDimension());
  SmallVector<DimensionFactors> shared;
  for (auto [index, size] : llvm::enumerate(dist::wholeShape(getType()))) {
    rule.factors.push_back(
        {size, static_cast<int64_t>(index) == dimension ? FactorKind::Replicated : FactorKind::PassThrough});
    shared.push_back({static_cast<int>(index)});
  }
  for (auto [index, operand] : llvm::enumerate(getInputs())) {
    SmallVector<DimensionFactors> factors = shared;
    rule.factors.push_back({dist::wholeShape(tensorType(operand))[dimension], FactorKind::Replicated});
    factors[dimension] = {static_cast<int>(rule.factors.size()) - 1};
    rule.operands.push_back(factors);
    rule.linear.push_back(false);
    if (!getType().getElementType().isInteger(1)) // i1 has no sum
      rule.jointlyLinear.push_back(static_cast<int>(index));
  }
  rule.results.push_back(shared);
  return rule;
}
int64_t ConcatenateOp::flops() { return 0; }

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  RankedTensorType from = tensorType(getOperand()), to = tensorType(getResult());
  if (failed(verifyLength(*this, "low", getLow(), from.getRank())) ||
      failed(verifyLength(*this, "high", getHigh(), from.getRank())))
    return failure();
  if (to.getRank() != from.getRank())
    return emitOpError() << "keeps the rank, got " << from << " -> " << to;
  for (int64_t index = 0; index < from.getRank(); ++index) {
    if (getLow()[index] < 0 || getHigh()[index] < 0)
      return emitOpError() << "expects no negative padding, got " << getLow()[index] << " and "
                           << getHigh()[index] << " along dimension " << index;
    int64_t wanted = from.getDimSize(index) + getLow()[index] + getHigh()[index];
    if (to.getDimSize(index) != wanted)
      return emitOpError() << "expects size " << wanted << " for result dimension " << index << ", got "
                           << to.getDimSize(index);
  }
  return verifySameElement(*this, getOperand(), getResult());
}
void PadOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  ValueBuilder b(context.builder, getLoc());
  if (wants(context, cotangents, 0))
    out[0] = b.cast(b.slice(cotangents[0], getLow(), tensorType(getOperand()).getShape()),
                    context.cotangentType(0).getElementType());
}
ShardingRule PadOp::shardingRule() {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t dimension = 0; dimension < tensorType(getOperand()).getRank(); ++dimension)
    if (getLow()[dimension] == 0 && getHigh()[dimension] == 0)
      pairs.push_back({dimension, dimension});
  ShardingRule rule = makePairedRule(*this, pairs);
  rule.linear = {getValue().isZero()};
  return rule;
}
int64_t PadOp::flops() { return 0; }
