#include "dialects/nn/PlacementRules.h"

#include "dialects/nn/NnOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft::nn {

std::optional<SmallVector<dist::Split>> shareOut(const ShardingRule &rule, dist::MeshAttr mesh,
                                                 ArrayRef<int> factors, const dist::Split &split) {
  SmallVector<dist::Split> shares(factors.size());
  if (factors.empty())
    return split.axes.empty() ? std::optional(shares) : std::nullopt;
  if (factors.size() == 1) {
    shares[0] = split;
    return shares;
  }
  if (split.zigzag)
    return std::nullopt;
  size_t at = 0;
  int64_t left = rule.factors[factors[0]].size;
  for (int64_t axis : split.axes) {
    int64_t size = mesh.getSizes()[axis];
    while (left == 1 && at + 1 < factors.size())
      left = rule.factors[factors[++at]].size;
    // Parts of one factor among several are contiguous in the dimension only if they are even.
    if (left % size != 0)
      return std::nullopt;
    shares[at].axes.push_back(axis);
    left /= size;
  }
  return shares;
}

dist::Placement placementFor(dist::MeshAttr mesh, ArrayRef<DimensionFactors> dimensions,
                             const FactorSplits &splits) {
  dist::Placement placement = dist::replicated(mesh, static_cast<int64_t>(dimensions.size()));
  for (auto [factors, split] : llvm::zip_equal(dimensions, placement.splits))
    for (int factor : factors) {
      llvm::append_range(split.axes, splits[factor].axes);
      split.zigzag |= splits[factor].zigzag;
    }
  return placement;
}

namespace {
dist::PendingKind pendingKind(FactorKind kind) {
  return kind == FactorKind::Max         ? dist::PendingKind::max
         : kind == FactorKind::LogSumExp ? dist::PendingKind::lse
                                         : dist::PendingKind::sum;
}

bool has(ArrayRef<DimensionFactors> dimensions, int factor) {
  return llvm::any_of(dimensions,
                      [&](const DimensionFactors &factors) { return llvm::is_contained(factors, factor); });
}
} // namespace

dist::Placement resultPlacement(const ShardingRule &rule, dist::MeshAttr mesh, const FactorSplits &splits,
                                unsigned result, ArrayRef<int64_t> passedSum, ArrayRef<int64_t> passedMax) {
  dist::Placement placement = placementFor(mesh, rule.results[result], splits);
  placement.sum = dist::Axes(passedSum);
  placement.max = dist::Axes(passedMax);
  for (auto [index, split] : llvm::enumerate(splits)) {
    if (split.axes.empty() || has(rule.results[result], static_cast<int>(index)))
      continue;
    dist::Axes &pending = placement.pending(pendingKind(rule.reducedKind(static_cast<int>(index), result)));
    pending = dist::unite(pending, split.axes);
  }
  return placement;
}

namespace {

/// One value of an op, for messages: `operand 1`.
struct Port {
  bool isResult;
  unsigned index;
  std::string str() const { return (isResult ? "result " : "operand ") + std::to_string(index); }
};

class PlacementChecker {
public:
  explicit PlacementChecker(Operation *op)
      : op(op), rule(cast<ShardingRuleOpInterface>(op).shardingRule()), splits(rule.factors.size()),
        first(rule.factors.size()) {}

  LogicalResult run() {
    if (failed(readMesh()))
      return failure();
    if (!mesh)
      return success();
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      if (failed(readSplits({false, static_cast<unsigned>(index)}, operand, rule.operands[index])))
        return failure();
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      if (failed(readSplits({true, static_cast<unsigned>(index)}, result, rule.results[index])))
        return failure();
    if (failed(checkFactors()) || failed(checkPending()))
      return failure();
    return checkResults();
  }

private:
  std::string describe(ArrayRef<int64_t> axes) { return dist::describe(mesh, axes); }

  /// All values have a placement on one mesh and are in one view, or none has any.
  LogicalResult readMesh() {
    bool some = false, none = false, local = false, global = false;
    for (Value value :
         llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults()))) {
      dist::Placement placement = dist::placementOf(value);
      if (!placement) {
        none = true;
        continue;
      }
      some = true;
      (dist::isLocal(value.getType()) ? local : global) = true;
      if (mesh && placement.mesh != mesh)
        return op->emitOpError() << "has values on two meshes";
      mesh = placement.mesh;
    }
    if (some && none)
      return op->emitOpError() << "has values with and without a placement";
    if (local && global)
      return op->emitOpError() << "has values of the global and of the local view";
    return success();
  }

  LogicalResult readSplits(Port port, Value value, ArrayRef<DimensionFactors> dimensions) {
    dist::Placement placement = dist::placementOf(value);
    placements.push_back(placement);
    for (auto [dimension, factors] : llvm::enumerate(dimensions)) {
      const dist::Split &split = placement.splits[dimension];
      std::optional<SmallVector<dist::Split>> shares = shareOut(rule, mesh, factors, split);
      if (!shares)
        return op->emitOpError()
               << "cannot have dimension " << dimension << " of " << port.str() << " split over "
               << describe(split.axes)
               << ": it is made of several, and the parts would cut through them. Reshard it first";
      for (auto [factor, share] : llvm::zip_equal(factors, *shares))
        if (failed(unify(factor, share, port, dimension)))
          return failure();
    }
    return success();
  }

  /// Every dimension with a factor is split alike.
  LogicalResult unify(int factor, const dist::Split &share, Port port, size_t dimension) {
    std::optional<std::pair<Port, size_t>> &before = first[factor];
    if (!before) {
      before = {port, dimension};
      splits[factor] = share;
      return success();
    }
    if (splits[factor] == share)
      return success();
    auto [firstPort, firstDimension] = *before;
    InFlightDiagnostic error = op->emitOpError();
    error << firstPort.str() << " dimension " << firstDimension << " and " << port.str() << " dimension "
          << dimension << " are one, and are split differently: " << describe(splits[factor].axes) << " and "
          << describe(share.axes);
    if (port.isResult)
      return error << ". The op gives " << describe(splits[factor].axes) << "; dist.reshard its result";
    return error << ". Reshard one of them first";
  }

  LogicalResult checkFactors() {
    SmallVector<int> owner(mesh.getSizes().size(), -1);
    for (auto [index, split] : llvm::enumerate(splits)) {
      if (split.axes.empty())
        continue;
      auto [port, dimension] = *first[index];
      if (rule.factors[index].kind == FactorKind::Replicated)
        return op->emitOpError() << "needs dimension " << dimension << " of " << port.str()
                                 << " whole, it is split over " << describe(split.axes)
                                 << ". Reshard it first, or split another dimension";
      for (int64_t axis : split.axes) {
        if (owner[axis] >= 0) {
          auto [other, otherDimension] = *first[owner[axis]];
          return op->emitOpError() << "would split two things over " << describe({axis}) << ": "
                                   << other.str() << " dimension " << otherDimension << " and " << port.str()
                                   << " dimension " << dimension << ". Reshard one of them first";
        }
        owner[axis] = static_cast<int>(index);
      }
    }
    for (auto [index, value] : llvm::enumerate(op->getOperands()))
      for (int64_t axis : placements[index].allPending())
        if (owner[axis] >= 0) {
          auto [other, dimension] = *first[owner[axis]];
          return op->emitOpError() << "takes operand " << index << " pending over " << describe({axis})
                                   << ", over which " << other.str() << " dimension " << dimension
                                   << " is split. Reshard operand " << index << " first";
        }
    return success();
  }

  LogicalResult checkPending() {
    for (unsigned index = 0; index < op->getNumOperands(); ++index)
      if (const dist::Axes &mine = placements[index].lse; !mine.empty())
        return op->emitOpError() << "takes operand " << index << ", whose log-sum-exp over " << describe(mine)
                                 << " is pending: " << dist::describe(placements[index])
                                 << ". Nothing passes one: reshard operand " << index << " first";
    if (failed(collect(rule.jointlyLinear, &dist::Placement::sum, passedSum, "sum")) ||
        failed(collect(rule.jointlyMonotone, &dist::Placement::max, passedMax, "maximum")))
      return failure();
    return checkNarrowing();
  }

  /// What passes: pending in one operand that the op is linear in, or in all of a group alike.
  LogicalResult collect(ArrayRef<int> joint, dist::Axes dist::Placement::*pending, dist::Axes &passed,
                        StringRef what) {
    bool sums = pending == &dist::Placement::sum;
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      const dist::Axes &mine = placements[index].*pending;
      bool inGroup = llvm::is_contained(joint, static_cast<int>(index));
      if (inGroup) {
        int leader = joint.front();
        if (mine != placements[leader].*pending)
          return refuseMixture(leader, static_cast<int>(index), pending, what);
      } else if (!mine.empty() && !(sums && index < rule.linear.size() && rule.linear[index])) {
        return op->emitOpError() << "takes operand " << index << ", whose " << what << " over "
                                 << describe(mine) << " is pending: " << dist::describe(placements[index])
                                 << ". It is not " << (sums ? "linear" : "monotone")
                                 << " in it: reshard operand " << index << " first";
      }
      for (int64_t axis : mine) {
        if (!inGroup && llvm::is_contained(passed, axis))
          return op->emitOpError() << "multiplies two values whose sum over " << describe({axis})
                                   << " is pending. Reshard one of them first";
      }
      passed = dist::unite(passed, mine);
    }
    return success();
  }

  LogicalResult refuseMixture(int leader, int other, dist::Axes dist::Placement::*pending, StringRef what) {
    const dist::Axes &left = placements[leader].*pending, &right = placements[other].*pending;
    dist::Axes lacking = dist::without(left, right);
    int replicated = other, pendingOperand = leader;
    if (lacking.empty()) {
      lacking = dist::without(right, left);
      std::swap(replicated, pendingOperand);
    }
    int64_t times = mesh.sizeOf(lacking);
    return op->emitOpError() << "adds operand " << replicated << " to a value whose " << what << " over "
                             << describe(lacking) << " is pending: it would be counted " << times
                             << " times. Operand " << leader << " is " << dist::describe(placements[leader])
                             << ", operand " << other << " is " << dist::describe(placements[other])
                             << ". Reshard operand " << pendingOperand << " first, or let one rank alone add";
  }

  /// A pending value is rounded to fewer digits only where that is said.
  LogicalResult checkNarrowing() {
    auto castOp = dyn_cast<CastOp>(op);
    if (!castOp || passedSum.empty() || op->hasAttr("wire"))
      return success();
    auto from = dyn_cast<FloatType>(tensorType(castOp.getOperand()).getElementType()),
         to = dyn_cast<FloatType>(tensorType(castOp.getResult()).getElementType());
    if (from && to && to.getFPMantissaWidth() < from.getFPMantissaWidth())
      return op->emitOpError()
             << "rounds a value whose sum over " << describe(passedSum)
             << " is pending: each term would be rounded. Reshard it first; an activation that is "
                "reduced in its own type says so with the attribute wire";
    return success();
  }

  LogicalResult checkResults() {
    for (auto [index, result] : llvm::enumerate(op->getResults())) {
      dist::Placement wanted =
          resultPlacement(rule, mesh, splits, static_cast<unsigned>(index), passedSum, passedMax);
      const dist::Placement &declared = placements[op->getNumOperands() + index];
      if (wanted == declared || isPendingZero(wanted, declared))
        continue;
      if (dist::Axes lost = dist::without(wanted.sum, declared.sum); !lost.empty())
        return op->emitOpError() << "gives a result whose sum over " << describe(lost)
                                 << " is pending, its type says " << dist::describe(declared)
                                 << " instead of " << dist::describe(wanted)
                                 << ". dist.reshard takes the sum";
      if (dist::Axes more = dist::without(declared.sum, wanted.sum); !more.empty())
        return op->emitOpError() << "gives a result whose sum over " << describe(more)
                                 << " is not pending, as its type says: a reduction would count it "
                                 << mesh.sizeOf(more) << " times. It is " << dist::describe(wanted);
      if (dist::Axes lost = dist::without(wanted.lse, declared.lse); !lost.empty())
        return op->emitOpError() << "gives result " << index << ", whose log-sum-exp over " << describe(lost)
                                 << " is pending, its type says " << dist::describe(declared)
                                 << " instead of " << dist::describe(wanted) << ". dist.reshard takes it";
      return op->emitOpError() << "gives result " << index << " at " << dist::describe(wanted)
                               << ", its type says " << dist::describe(declared);
    }
    return success();
  }

  /// Zero is the sum of zeros, over any axes: what an accumulator starts from.
  bool isPendingZero(dist::Placement wanted, const dist::Placement &declared) {
    auto constant = dyn_cast<ConstantOp>(op);
    auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    if (!value || !value.isSplat())
      return false;
    bool isZero = isa<FloatType>(value.getElementType()) ? value.getSplatValue<APFloat>().isPosZero()
                                                         : value.getSplatValue<APInt>().isZero();
    wanted.sum = declared.sum;
    return isZero && wanted == declared;
  }

  Operation *op;
  ShardingRule rule;
  dist::MeshAttr mesh;
  SmallVector<dist::Placement> placements; ///< operands, then results
  FactorSplits splits;
  SmallVector<std::optional<std::pair<Port, size_t>>> first; ///< where a factor was met first
  dist::Axes passedSum, passedMax;
};

} // namespace

LogicalResult verifyPlacements(Operation *op) {
  auto isPlaced = [](Type type) { return static_cast<bool>(dist::placementOf(type)); };
  if (llvm::none_of(op->getOperandTypes(), isPlaced) && llvm::none_of(op->getResultTypes(), isPlaced))
    return success();
  return PlacementChecker(op).run();
}

} // namespace weft::nn
