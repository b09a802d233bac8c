#include "passes/analysis/ReshardPath.h"

#include "passes/analysis/AxisBundles.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <queue>

using namespace mlir;

namespace weft {
namespace {
using dist::Axes;
using dist::Placement;

/// What a step costs beside its bytes: with it, of two walks of equal bytes the one of fewer steps wins.
constexpr double kStepCost = 1.0 / 1024;
/// Up to so many axes each is looked at by itself; more of them, in bundles.
constexpr size_t kFewAxes = 3;
/// Detours are looked at for tensors of at most so many dimensions, over few axes or bundles.
constexpr size_t kDimensionsOfDetours = 4;

/// A tensor in parts.
struct WholeTensor {
  ArrayRef<int64_t> shape;
  int64_t elementBytes;

  double partBytes(const Placement &placement) const {
    auto bytes = static_cast<double>(elementBytes);
    for (int64_t size : dist::partShape(shape, placement))
      bytes *= static_cast<double>(size);
    return bytes;
  }

  /// What a rank sends in a step from one placement to another.
  double sentBytes(const ReshardStep &step, const Placement &before) const {
    auto ranks = static_cast<double>(before.mesh.sizeOf(step.axes));
    double share = (ranks - 1) / ranks;
    switch (step.kind) {
    case ReshardKind::AllGather:
      return share * partBytes(step.after);
    case ReshardKind::AllReduce:
      return 2 * share * partBytes(before);
    case ReshardKind::ReduceScatter:
    case ReshardKind::AllToAll:
      return share * partBytes(before);
    case ReshardKind::Slice:
    case ReshardKind::KeepFirst:
      return 0;
    }
    llvm_unreachable("all kinds are listed");
  }
};

/// Steps of one axis each; an all-reduce may take several, and what scatters a tree.
class PathSearch {
public:
  /// `undivided` axes (bundles of several) leave a dimension for another only where both divide.
  PathSearch(const WholeTensor &tensor, const Placement &target, bool undivided)
      : tensor(tensor), target(target), mesh(target.mesh), undivided(undivided) {}

  SmallVector<ReshardStep, 2> run(const Placement &from) {
    Axes involved = involvedAxes(from, target);
    isWide = involved.size() > kFewAxes;
    // A detour may be cheaper: what is replicated, sliced first, makes the steps in between smaller, and an
    // axis may wait in another dimension. With few axes in the two placements all detours are looked at; with
    // many, an axis goes only where the target has it. Axes that neither placement has stay out of it: a
    // data-parallel reduction is no matter of the tensor axis.
    if (!isWide && tensor.shape.size() <= kDimensionsOfDetours)
      movable = involved;
    auto isZigzag = [](const dist::Split &split) { return split.zigzag; };
    hasZigzag = llvm::any_of(from.splits, isZigzag) || llvm::any_of(target.splits, isZigzag);
    states.push_back({from, 0, -1, {}});
    known[dist::attributeOf(from)] = 0;
    queue.push({0, 0});
    while (!queue.empty()) {
      auto [cost, index] = queue.top();
      queue.pop();
      if (cost > states[index].cost)
        continue;
      if (states[index].placement == target)
        return walkTo(index);
      expand(index);
    }
    llvm_unreachable("every placement can be reached by reducing and gathering everything first");
  }

private:
  struct State {
    Placement placement;
    double cost;
    int64_t before;
    ReshardStep step;
  };

  void expand(int64_t index) {
    Placement here = states[index].placement;
    for (auto [dimension, split] : llvm::enumerate(here.splits))
      if (!split.axes.empty())
        leaveDimension(index, here, static_cast<int64_t>(dimension));
    for (dist::PendingKind kind : dist::kPendingKinds)
      reduce(index, here, here.pending(kind), target.pending(kind), kind);
    bool first = true;
    for (size_t axis = 0; axis < mesh.getSizes().size(); ++axis)
      if (here.isReplicatedOver(static_cast<int64_t>(axis)))
        splitReplicated(index, here, static_cast<int64_t>(axis), first);
  }

  /// Takes the minor axis off a dimension: gathered, or moved to another dimension.
  void leaveDimension(int64_t index, const Placement &here, int64_t dimension) {
    int64_t axis = here.splits[dimension].axes.back();
    Placement next = here;
    next.splits[dimension].axes.pop_back();
    next.splits[dimension].zigzag &= !next.splits[dimension].axes.empty();
    reach(index, {ReshardKind::AllGather, {axis}, dimension, 0, {}, next});
    for (size_t other = 0; other < here.splits.size(); ++other) {
      if (static_cast<int64_t>(other) == dimension || !wants(here, other, axis) ||
          (undivided && !(divides(next, dimension, axis) && divides(next, other, axis))))
        continue;
      splitFurther(next, other, {axis}, [&](Placement moved) {
        reach(index,
              {ReshardKind::AllToAll, {axis}, dimension, static_cast<int64_t>(other), {}, std::move(moved)});
      });
    }
  }

  /// Whether what a rank has of a dimension can be cut evenly over one more axis.
  bool divides(const Placement &placement, size_t dimension, int64_t axis) {
    return dist::partSize(mesh, tensor.shape[dimension], placement.splits[dimension]) %
               mesh.getSizes()[axis] ==
           0;
  }

  /// Reduces what the target has reduced: all in one, which sends less than one axis after another, or a part
  /// of them. On a detour also what the target has pending: a sum becomes pending again for nothing.
  void reduce(int64_t index, const Placement &here, const Axes &pending, const Axes &wanted,
              dist::PendingKind kind) {
    Axes due = dist::without(pending, wanted);
    if (kind == dist::PendingKind::tree)
      return reduceTree(index, here, due);
    if (due.size() > 1)
      allReduce(index, here, due, kind);
    if (isWide) {
      Axes unsplit;
      llvm::copy_if(due, std::back_inserter(unsplit), [&](int64_t axis) { return !target.splitsOver(axis); });
      if (!unsplit.empty())
        allReduce(index, here, unsplit, kind);
    }
    for (int64_t axis : pending) {
      if (!llvm::is_contained(due, axis) &&
          (kind != dist::PendingKind::sum || !llvm::is_contained(movable, axis)))
        continue;
      if (!isWide || due.size() == 1)
        allReduce(index, here, {axis}, kind);
      reduceScatter(index, here, {axis}, kind);
    }
  }

  /// Of a tree the minor axes come first, as many at once as go to one place: one after another they would
  /// split a dimension the wrong way round.
  void reduceTree(int64_t index, const Placement &here, const Axes &due) {
    for (size_t count = 1; count <= due.size(); ++count) {
      Axes minor(ArrayRef(due).take_back(count));
      allReduce(index, here, minor, dist::PendingKind::tree);
      reduceScatter(index, here, minor, dist::PendingKind::tree);
    }
  }

  static Placement reduced(Placement placement, const Axes &axes, dist::PendingKind kind) {
    placement.pending(kind) = dist::without(placement.pending(kind), axes);
    return placement;
  }

  void allReduce(int64_t index, const Placement &here, const Axes &axes, dist::PendingKind kind) {
    reach(index, {ReshardKind::AllReduce, axes, 0, 0, kind, reduced(here, axes, kind)});
  }

  /// Several axes, and bundles that cannot go one after another, only where they cut the dimension evenly.
  void reduceScatter(int64_t index, const Placement &here, const Axes &axes, dist::PendingKind kind) {
    bool atOnce = axes.size() > 1 || (undivided && kind == dist::PendingKind::tree);
    for (size_t dimension = 0; dimension < here.splits.size(); ++dimension) {
      Placement further = here;
      bool isWanted =
          !atOnce ||
          dist::partSize(mesh, tensor.shape[dimension], here.splits[dimension]) % mesh.sizeOf(axes) == 0;
      for (int64_t axis : axes) {
        isWanted = isWanted && wants(further, dimension, axis);
        further.splits[dimension].axes.push_back(axis);
      }
      if (isWanted)
        splitFurther(reduced(here, axes, kind), dimension, axes, [&](Placement scattered) {
          reach(index, {ReshardKind::ReduceScatter, axes, static_cast<int64_t>(dimension), 0, kind,
                        std::move(scattered)});
        });
    }
  }

  /// `first` until an axis became a pending sum: the order of many does not matter.
  void splitReplicated(int64_t index, const Placement &here, int64_t axis, bool &first) {
    for (size_t dimension = 0; dimension < here.splits.size(); ++dimension) {
      if (!wants(here, dimension, axis))
        continue;
      splitFurther(here, dimension, {axis}, [&](Placement next) {
        reach(index, {ReshardKind::Slice, {axis}, static_cast<int64_t>(dimension), 0, {}, std::move(next)});
      });
    }
    // A zero is no neutral term of a log-sum-exp: that is taken first.
    if (llvm::is_contained(target.sum, axis) && here.lse.empty() && (first || !isWide)) {
      Placement next = here;
      next.sum = dist::unite(next.sum, {axis});
      reach(index, {ReshardKind::KeepFirst, {axis}, 0, 0, {}, std::move(next)});
      first = false;
    }
  }

  /// Whether it is worth looking at this dimension split further over the axis.
  bool wants(const Placement &here, size_t dimension, int64_t axis) {
    if (llvm::is_contained(movable, axis))
      return true;
    ArrayRef<int64_t> wanted = target.splits[dimension].axes, have = here.splits[dimension].axes;
    return have.size() < wanted.size() && wanted[have.size()] == axis &&
           wanted.take_front(have.size()) == have;
  }

  /// The ways to split a dimension further: one that is whole as the target begins, and on a detour between
  /// zigzags the other way too; in zigzag only where the dimension divides.
  void splitFurther(const Placement &here, size_t dimension, const Axes &axes,
                    function_ref<void(Placement)> visit) {
    const dist::Split &wanted = target.splits[dimension], &have = here.splits[dimension];
    bool begins = wanted.zigzag && wanted.axes.front() == axes.front();
    for (bool zigzag : {false, true}) {
      bool isDetour = hasZigzag && llvm::is_contained(movable, axes.front());
      if (have.axes.empty() ? zigzag != begins && !isDetour : zigzag != have.zigzag)
        continue;
      Placement next = here;
      dist::Split &split = next.splits[dimension];
      split.zigzag = zigzag;
      llvm::append_range(split.axes, axes);
      if (!zigzag || tensor.shape[dimension] % (2 * mesh.sizeOf(split.axes)) == 0)
        visit(std::move(next));
    }
  }

  void reach(int64_t before, ReshardStep step) {
    step.bytes = tensor.sentBytes(step, states[before].placement);
    double cost = states[before].cost + step.bytes + kStepCost;
    auto [found, isNew] =
        known.try_emplace(dist::attributeOf(step.after), static_cast<int64_t>(states.size()));
    if (isNew)
      states.push_back({step.after, cost, before, std::move(step)});
    else if (cost < states[found->second].cost)
      states[found->second] = {step.after, cost, before, std::move(step)};
    else
      return;
    queue.push({cost, found->second});
  }

  SmallVector<ReshardStep, 2> walkTo(int64_t index) {
    SmallVector<ReshardStep, 2> steps;
    for (; states[index].before >= 0; index = states[index].before)
      steps.push_back(states[index].step);
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  const WholeTensor &tensor;
  const Placement &target;
  dist::MeshAttr mesh;
  bool undivided;
  bool isWide = false;    ///< more than few axes
  bool hasZigzag = false; ///< at either end
  Axes movable;           ///< axes that may go to any dimension on the way
  std::vector<State> states;
  llvm::DenseMap<mlir::Attribute, int64_t> known;
  std::priority_queue<std::pair<double, int64_t>, std::vector<std::pair<double, int64_t>>, std::greater<>>
      queue;
};

/// The steps of bundles as steps of their axes.
class StepUnbundler {
public:
  StepUnbundler(const WholeTensor &tensor, const AxisBundles &bundles, const Placement &from)
      : tensor(tensor), bundles(bundles), here(from) {}

  SmallVector<ReshardStep, 2> run(ArrayRef<ReshardStep> walk) {
    for (const ReshardStep &step : walk) {
      Axes axes = bundles.axesOf(step.axes);
      switch (step.kind) {
      case ReshardKind::AllReduce:
      case ReshardKind::KeepFirst:
        llvm::sort(axes);
        take(step, axes);
        break;
      case ReshardKind::AllToAll:
        take(step, axes);
        break;
      case ReshardKind::AllGather:
        for (int64_t axis : llvm::reverse(axes))
          take(step, {axis});
        break;
      case ReshardKind::ReduceScatter:
        if (step.pending == dist::PendingKind::tree) {
          take(step, axes);
          break;
        }
        [[fallthrough]];
      case ReshardKind::Slice:
        for (int64_t axis : axes)
          take(step, {axis});
        break;
      }
    }
    return std::move(steps);
  }

private:
  void take(ReshardStep step, const Axes &axes) {
    Placement next = here;
    auto leave = [&](int64_t dimension) {
      dist::Split &split = next.splits[dimension];
      split.axes.truncate(split.axes.size() - axes.size());
      split.zigzag &= !split.axes.empty();
    };
    auto enter = [&](int64_t dimension) {
      dist::Split &split = next.splits[dimension];
      if (split.axes.empty())
        split.zigzag = step.after.splits[dimension].zigzag;
      llvm::append_range(split.axes, axes);
    };
    auto finish = [&] { next.pending(step.pending) = dist::without(next.pending(step.pending), axes); };
    switch (step.kind) {
    case ReshardKind::AllGather:
      leave(step.dimension);
      break;
    case ReshardKind::AllReduce:
      finish();
      break;
    case ReshardKind::ReduceScatter:
      finish();
      enter(step.dimension);
      break;
    case ReshardKind::AllToAll:
      leave(step.dimension);
      enter(step.target);
      break;
    case ReshardKind::Slice:
      enter(step.dimension);
      break;
    case ReshardKind::KeepFirst:
      next.sum = dist::unite(next.sum, axes);
      break;
    }
    step.axes = axes;
    step.after = next;
    step.bytes = tensor.sentBytes(step, here);
    here = std::move(next);
    steps.push_back(std::move(step));
  }

  const WholeTensor &tensor;
  const AxisBundles &bundles;
  Placement here;
  SmallVector<ReshardStep, 2> steps;
};

bool mayJoin(const WholeTensor &tensor, const ReshardStep &last, const ReshardStep &step) {
  if (last.kind != step.kind || last.pending != step.pending)
    return false;
  // What goes together of a tree is a step already, in its order.
  bool reduces = step.kind == ReshardKind::AllReduce || step.kind == ReshardKind::ReduceScatter;
  if (reduces && step.pending == dist::PendingKind::tree)
    return false;
  if (step.kind == ReshardKind::AllReduce || step.kind == ReshardKind::KeepFirst)
    return true;
  if (step.kind == ReshardKind::AllToAll || last.dimension != step.dimension)
    return false;
  dist::MeshAttr mesh = step.after.mesh;
  int64_t parts = mesh.sizeOf(last.axes) * mesh.sizeOf(step.axes);
  Axes outer = step.after.splits[step.dimension].axes;
  if (step.kind != ReshardKind::AllGather)
    outer.truncate(outer.size() - last.axes.size() - step.axes.size());
  return dist::partSize(mesh, tensor.shape[step.dimension], {outer, false}) % parts == 0;
}

/// Neighbors that are one collective over several axes become it.
SmallVector<ReshardStep, 2> merge(const WholeTensor &tensor, ArrayRef<ReshardStep> steps) {
  SmallVector<ReshardStep, 2> merged;
  for (const ReshardStep &step : steps) {
    if (merged.empty() || !mayJoin(tensor, merged.back(), step)) {
      merged.push_back(step);
      continue;
    }
    ReshardStep &last = merged.back();
    if (step.kind == ReshardKind::AllGather) // the minor axis was gathered first
      last.axes.insert(last.axes.begin(), step.axes.begin(), step.axes.end());
    else
      llvm::append_range(last.axes, step.axes);
    last.after = step.after;
    last.bytes += step.bytes;
  }
  return merged;
}
} // namespace

StringRef name(ReshardKind kind) {
  switch (kind) {
  case ReshardKind::AllGather:
    return "all_gather";
  case ReshardKind::AllReduce:
    return "all_reduce";
  case ReshardKind::ReduceScatter:
    return "reduce_scatter";
  case ReshardKind::AllToAll:
    return "all_to_all";
  case ReshardKind::Slice:
    return "slice";
  case ReshardKind::KeepFirst:
    return "keep_first";
  }
  return "";
}

SmallVector<ReshardStep, 2> reshardPath(ArrayRef<int64_t> whole, int64_t elementBytes, const Placement &from,
                                        const Placement &to) {
  if (from == to)
    return {};
  WholeTensor tensor{whole, elementBytes};
  if (involvedAxes(from, to).size() <= kFewAxes)
    return merge(tensor, PathSearch(tensor, to, false).run(from));
  AxisBundles bundles(from, to);
  Placement target = bundles.bundled(to);
  SmallVector<ReshardStep, 2> walk = PathSearch(tensor, target, true).run(bundles.bundled(from));
  return merge(tensor, StepUnbundler(tensor, bundles, from).run(walk));
}

double totalBytes(ArrayRef<ReshardStep> path) {
  double bytes = 0;
  for (const ReshardStep &step : path)
    bytes += step.bytes;
  return bytes;
}

ArrayRef<ReshardStep> ReshardPaths::find(RankedTensorType type, const Placement &to) {
  mlir::Attribute target = dist::attributeOf(to);
  std::unique_ptr<SmallVector<ReshardStep, 2>> &path = known[{type, target}];
  if (!path)
    path = std::make_unique<SmallVector<ReshardStep, 2>>(reshardPath(
        dist::wholeShape(type), (type.getElementTypeBitWidth() + 7) / 8, dist::placementOf(type), to));
  return *path;
}

} // namespace weft
