#include "dialects/nn/PlacementRules.h"

#include "dialects/nn/NnOps.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

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
  if (split.zigzag) { // of one factor, beside which the others are nothing
    auto isMany = [&](int factor) { return rule.factors[factor].size > 1; };
    if (llvm::count_if(factors, isMany) != 1)
      return std::nullopt;
    shares[llvm::find_if(factors, isMany) - factors.begin()] = split;
    return shares;
  }
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
  if (rule.makesLeaves)
    std::swap(placement.tree, placement.sum);
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
    // What operands alone do wrong is said before what a result's type makes of it.
    if (failed(checkFactors()))
      return failure();
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      if (failed(readSplits({true, static_cast<unsigned>(index)}, result, rule.results[index])))
        return failure();
    if (failed(checkFactors()) || failed(checkPending()) || failed(checkResults()))
      return failure();
    return checkTails();
  }

private:
  std::string describe(ArrayRef<int64_t> axes) { return dist::describe(mesh, axes); }

  /// All values have a placement on one mesh and are in one view, or none has any.
  LogicalResult readMesh() {
    std::optional<Port> placed, bare, local, global;
    auto read = [&](Port port, Value value) -> LogicalResult {
      dist::Placement placement = dist::placementOf(value);
      if (!placement) {
        bare = bare.value_or(port);
        return success();
      }
      std::optional<Port> &view = dist::isLocal(value.getType()) ? local : global;
      view = view.value_or(port);
      if (mesh && placement.mesh != mesh)
        return op->emitOpError() << "has " << placed->str() << " and " << port.str()
                                 << " on two meshes; a program has one";
      placed = placed.value_or(port);
      mesh = placement.mesh;
      return success();
    };
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      if (failed(read({false, static_cast<unsigned>(index)}, operand)))
        return failure();
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      if (failed(read({true, static_cast<unsigned>(index)}, result)))
        return failure();
    if (placed && bare)
      return op->emitOpError() << "has " << placed->str() << " with a placement and " << bare->str()
                               << " without: on a mesh every value has one";
    if (local && global)
      return op->emitOpError() << "has " << global->str() << " of the global view and " << local->str()
                               << " of the local view (#dist.local): a program is in one";
    return success();
  }

  LogicalResult readSplits(Port port, Value value, ArrayRef<DimensionFactors> dimensions) {
    dist::Placement placement = dist::placementOf(value);
    placements.push_back(placement);
    for (auto [dimension, factors] : llvm::enumerate(dimensions)) {
      const dist::Split &split = placement.splits[dimension];
      if (failed(checkWhole(port, dimension, factors, dist::wholeShape(tensorType(value))[dimension])))
        return failure();
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

  /// Parts of one size may be of wholes that are not.
  LogicalResult checkWhole(Port port, size_t dimension, ArrayRef<int> factors, int64_t whole) {
    int64_t size = 1;
    for (int factor : factors)
      size *= rule.factors[factor].size;
    if (factors.empty() || size == whole)
      return success();
    return op->emitOpError() << "has parts of " << size << " and of " << whole
                             << " in one dimension: that of " << port.str() << " dimension " << dimension
                             << " is " << whole << " in the whole. Only parts of one size of the whole meet";
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
      if (split.zigzag &&
          llvm::any_of(rule.indices, [&, factor = static_cast<int>(index)](const auto &indices) {
            return indices.factor == factor;
          }))
        return op->emitOpError() << "has indices into dimension " << dimension << " of " << port.str()
                                 << ", which is in zigzag over " << describe(split.axes)
                                 << ": a part of it is no range of indices. Reshard it first";
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
    for (unsigned index = 0; index < op->getNumOperands(); ++index)
      if (const dist::Axes &mine = placements[index].tree;
          !mine.empty() && !(rule.joinsSubtrees && mine == placements[0].tree))
        return op->emitOpError()
               << "takes operand " << index << ", whose tree over " << describe(mine)
               << " is pending: " << dist::describe(placements[index])
               << ". An op on its terms would give other bits than one on the sum: reshard operand " << index
               << " first";
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
        // A maximum may count a value any number of times.
        int leader = joint.front();
        if (sums && mine != placements[leader].*pending)
          return refuseMixture(leader, static_cast<int>(index));
      } else if (!mine.empty() && !(sums && index < rule.linear.size() && rule.linear[index])) {
        return op->emitOpError() << "takes operand " << index << ", whose " << what << " over "
                                 << describe(mine) << " is pending: " << dist::describe(placements[index])
                                 << ". "
                                 << (sums ? "It is not linear in it" : "nn.maximum alone passes a maximum on")
                                 << ": reshard operand " << index << " first";
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

  LogicalResult refuseMixture(int leader, int other) {
    dist::Axes lacking = dist::without(placements[leader].sum, placements[other].sum);
    int replicated = other, pendingOperand = leader;
    if (lacking.empty()) {
      lacking = dist::without(placements[other].sum, placements[leader].sum);
      std::swap(replicated, pendingOperand);
    }
    return op->emitOpError() << "adds operand " << replicated << " to a value whose sum over "
                             << describe(lacking) << " is pending: it would be counted "
                             << mesh.sizeOf(lacking) << " times. Operand " << leader << " is "
                             << dist::describe(placements[leader]) << ", operand " << other << " is "
                             << dist::describe(placements[other]) << ". Reshard operand " << pendingOperand
                             << " first, or let one rank alone add";
  }

  /// A pending value is rounded to fewer digits, or to a smaller range, only where that is said.
  LogicalResult checkNarrowing() {
    auto castOp = dyn_cast<CastOp>(op);
    if (!castOp || passedSum.empty() || op->hasAttr("wire"))
      return success();
    auto from = dyn_cast<FloatType>(tensorType(castOp.getOperand()).getElementType()),
         to = dyn_cast<FloatType>(tensorType(castOp.getResult()).getElementType());
    if (!from || !to)
      return success();
    const llvm::fltSemantics &before = from.getFloatSemantics(), &after = to.getFloatSemantics();
    if (to.getFPMantissaWidth() < from.getFPMantissaWidth() ||
        llvm::APFloat::semanticsMaxExponent(after) < llvm::APFloat::semanticsMaxExponent(before))
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
      if (rule.joinsSubtrees)
        wanted.tree = placements[0].tree;
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
      if (dist::Axes lost = dist::without(wanted.tree, declared.tree); !lost.empty())
        return op->emitOpError() << "gives result " << index << ", whose tree over " << describe(lost)
                                 << " is pending, its type says " << dist::describe(declared)
                                 << " instead of " << dist::describe(wanted) << ". dist.reshard takes it";
      return op->emitOpError() << "gives result " << index << " at " << dist::describe(wanted)
                               << ", its type says " << dist::describe(declared);
    }
    return success();
  }

  /// In the local view, what a reduction takes over a dimension of parts that are not all full is masked
  /// first.
  LogicalResult checkTails() {
    for (auto [index, dimensions] : llvm::enumerate(rule.operands)) {
      if (!dist::isLocal(op->getOperand(index).getType()))
        continue;
      ArrayRef<int64_t> whole = dist::wholeShape(tensorType(op->getOperand(index)));
      for (auto [dimension, factors] : llvm::enumerate(dimensions)) {
        const dist::Split &split = placements[index].splits[dimension];
        if (factors.size() != 1 || dist::dividesEvenly(mesh, whole[dimension], split))
          continue;
        std::optional<double> neutral = neutralElement(rule, factors[0], split);
        if (neutral && !isMasked(op->getOperand(index), static_cast<int64_t>(dimension), *neutral))
          return op->emitOpError()
                 << "reduces dimension " << dimension << " of operand " << index << ", " << whole[dimension]
                 << " split over " << describe(split.axes)
                 << ": not all parts are full, and what lies behind is unspecified. dist.mask it with "
                 << *neutral << " first";
      }
    }
    return success();
  }

  static bool isMasked(Value value, int64_t dimension, double neutral) {
    while (auto mask = value.getDefiningOp<dist::MaskOp>()) {
      if (static_cast<int64_t>(mask.getDimension()) == dimension)
        return mask.getValue().convertToDouble() == neutral;
      value = mask.getOperand();
    }
    return false;
  }

  /// Zero is the sum of zeros, over any axes: what an accumulator starts from.
  bool isPendingZero(dist::Placement wanted, const dist::Placement &declared) {
    auto constant = dyn_cast<ConstantOp>(op);
    auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    if (!value || !value.isSplat())
      return false;
    bool isZero = isa<FloatType>(value.getElementType()) ? value.getSplatValue<APFloat>().isZero()
                                                         : value.getSplatValue<APInt>().isZero();
    wanted.sum = declared.sum, wanted.tree = declared.tree;
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

std::optional<double> neutralElement(const ShardingRule &rule, int factor, const dist::Split &split) {
  bool isIndexed = llvm::any_of(rule.indices, [&](const auto &indices) { return indices.factor == factor; });
  if (llvm::is_contained(rule.takesValid, factor) || (isIndexed && split.axes.size() == 1) ||
      llvm::all_of(rule.results, [&](ArrayRef<DimensionFactors> result) { return has(result, factor); }))
    return std::nullopt;
  return rule.factors[factor].kind == FactorKind::Max ? -std::numeric_limits<double>::infinity() : 0.0;
}

LogicalResult verifyPlacements(Operation *op) {
  auto isPlaced = [](Type type) { return static_cast<bool>(dist::placementOf(type)); };
  if (llvm::none_of(op->getOperandTypes(), isPlaced) && llvm::none_of(op->getResultTypes(), isPlaced))
    return success();
  return PlacementChecker(op).run();
}

} // namespace weft::nn
