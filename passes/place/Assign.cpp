#include "passes/place/Assign.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
namespace {
using dist::Placement;

int64_t elementBytes(Value value) { return (nn::tensorType(value).getElementTypeBitWidth() + 7) / 8; }

/// Bytes of a rank's part.
double partBytes(ArrayRef<int64_t> whole, const Placement &placement, int64_t bytes) {
  auto product = static_cast<double>(bytes);
  for (int64_t size : dist::partShape(whole, placement))
    product *= static_cast<double>(size);
  return product;
}

bool isNarrowing(Operation *op) {
  auto castOp = dyn_cast<nn::CastOp>(op);
  if (!castOp)
    return false;
  return elementBytes(castOp.getResult()) < elementBytes(castOp.getOperand());
}

void setPlacement(Value value, const Placement &placement) {
  RankedTensorType type = nn::tensorType(value);
  value.setType(dist::globalType(type.getShape(), type.getElementType(), placement));
}
} // namespace

LogicalResult BlockAssigner::run() {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(assign(&op)))
      return failure();
  return success();
}

LogicalResult BlockAssigner::assign(Operation *op) {
  if (auto read = dyn_cast<nn::ReadOp>(op)) {
    Operation *variable = symbols.lookup(read.getVariable());
    read.getResult().setType(cast<RankedTensorType>(variable->getAttrOfType<TypeAttr>("type").getValue()));
    variables.insert(read.getResult());
    return success();
  }
  if (auto write = dyn_cast<nn::WriteOp>(op)) {
    Operation *variable = symbols.lookup(write.getVariable());
    Placement storage = dist::placementOf(variable->getAttrOfType<TypeAttr>("type").getValue());
    write.getValueMutable().assign(at(write.getValue(), storage, write));
    return success();
  }
  auto shardable = dyn_cast<nn::ShardingRuleOpInterface>(op);
  if (!shardable)
    return op->emitOpError() << "has no sharding rule: it cannot be placed on a mesh";
  assignByRule(op, propagator.rule(op));
  if (gatherPerModule && isa<nn::BoundaryOp>(op))
    forgetGathered();
  if (isa<nn::CastOp>(op) && variables.contains(op->getOperand(0)))
    variables.insert(op->getResult(0));
  return success();
}

void BlockAssigner::assignByRule(Operation *op, const nn::ShardingRule &rule) {
  nn::FactorSplits splits = propagator.splits(op);
  SmallVector<Placement> needed(op->getNumOperands());
  dist::Axes passed;
  if (staysWithOperands(op, rule, splits)) {
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      needed[index] = dist::placementOf(operand);
      passed = dist::unite(passed, needed[index].sum);
    }
  } else {
    for (auto [index, dimensions] : llvm::enumerate(rule.operands))
      needed[index] = nn::placementFor(mesh, dimensions, splits);
    // Scalars reduce last, all in one: a rank alone keeps what is not pending.
    bool isScalar = nn::tensorType(op->getResult(0)).getRank() == 0;
    if (isScalar)
      for (int index : rule.jointlyLinear)
        passed = dist::unite(passed, dist::placementOf(op->getOperand(index)).sum);
    for (int index : rule.jointlyLinear)
      needed[index].sum = passed;
    if (rule.makesLeaves)
      passed = needed[0].sum = dist::placementOf(op->getOperand(0)).sum;
    if (rule.jointlyLinear.empty() && !rule.makesLeaves)
      for (unsigned index = 0; index < op->getNumOperands(); ++index)
        if (passesPending(op, rule, splits, index, passed)) {
          needed[index].sum = dist::placementOf(op->getOperand(index)).sum;
          passed = dist::unite(passed, needed[index].sum);
        }
  }
  for (auto [index, placement] : llvm::enumerate(needed))
    op->setOperand(index, at(op->getOperand(index), placement, op));
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    setPlacement(result, nn::resultPlacement(rule, mesh, splits, static_cast<unsigned>(index), passed, {}));
  if (auto constant = dyn_cast<nn::ConstantOp>(op))
    constant.setValueAttr(
        cast<DenseElementsAttr>(constant.getValue()).reshape(nn::tensorType(constant.getResult())));
}

/// A sum of values that are pending alike is pending alike, and reduced once instead of each. A cast to fewer
/// bytes, and one of a variable, comes before what moves the value.
bool BlockAssigner::staysWithOperands(Operation *op, const nn::ShardingRule &rule,
                                      nn::FactorSplits &splits) const {
  bool isSum = !rule.jointlyLinear.empty() && rule.jointlyLinear.size() == op->getNumOperands();
  bool isEarlyCast = isa<nn::CastOp>(op) && (isNarrowing(op) || variables.contains(op->getOperand(0)));
  if (!isSum && !isEarlyCast)
    return false;
  Placement first = dist::placementOf(op->getOperand(0));
  if (isSum ? !first.isPendingSum() : first.isPending())
    return false;
  nn::FactorSplits own(rule.factors.size());
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands)) {
    if (dist::placementOf(operand) != first)
      return false;
    for (auto [dimension, factors] : llvm::enumerate(dimensions)) {
      auto shares = nn::shareOut(rule, mesh, factors, first.splits[dimension]);
      if (!shares)
        return false;
      for (auto [factor, share] : llvm::zip_equal(factors, *shares)) {
        if (!share.axes.empty() && rule.factors[factor].kind == nn::FactorKind::Replicated)
          return false;
        own[factor] = share;
      }
    }
  }
  splits = own;
  return true;
}

bool BlockAssigner::passesPending(Operation *op, const nn::ShardingRule &rule, const nn::FactorSplits &splits,
                                  unsigned operand, const dist::Axes &passed) const {
  Value value = op->getOperand(operand);
  Placement here = dist::placementOf(value);
  if (!here.isPendingSum() || !rule.linear[operand] || !passed.empty() ||
      (isNarrowing(op) && !op->hasAttr("wire")))
    return false;
  for (const dist::Split &split : splits)
    for (int64_t axis : split.axes)
      if (llvm::is_contained(here.sum, axis))
        return false;
  Placement needed = nn::placementFor(mesh, rule.operands[operand], splits);
  if (needed.splits != here.splits)
    return false;
  double before = partBytes(nn::tensorType(value).getShape(), needed, elementBytes(value)), after = 0;
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    after += partBytes(nn::tensorType(result).getShape(), nn::placementFor(mesh, rule.results[index], splits),
                       elementBytes(result));
  if (after > before)
    return false;
  // Where another use needs the sum, it is taken for all.
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<nn::CarryOp>(user))
      return true;
    auto shardable = dyn_cast<nn::ShardingRuleOpInterface>(user);
    if (!shardable)
      return false;
    const nn::ShardingRule &other = propagator.rule(user);
    return other.linear[use.getOperandNumber()] ||
           llvm::is_contained(other.jointlyLinear, static_cast<int>(use.getOperandNumber()));
  });
}

Value BlockAssigner::at(Value value, const Placement &target, Operation *user) {
  if (dist::placementOf(value) == target)
    return value;
  RankedTensorType type = nn::tensorType(value);
  Value nearest = value;
  double fewest = paths.bytes(type, target);
  for (Value version : versions[value]) {
    RankedTensorType here = nn::tensorType(version);
    if (dist::placementOf(here) == target)
      return version;
    // Of the pending kinds, what is reduced can become a sum again, and nothing else is a target.
    if (double bytes = paths.bytes(here, target); bytes < fewest)
      nearest = version, fewest = bytes;
  }
  OpBuilder builder(user);
  auto reshard = dist::ReshardOp::create(
      builder, value.getLoc(), dist::globalType(type.getShape(), type.getElementType(), target), nearest);
  versions[value].push_back(reshard.getResult());
  return reshard.getResult();
}

void BlockAssigner::forgetGathered() {
  for (Value variable : variables)
    versions.erase(variable);
}

} // namespace weft
