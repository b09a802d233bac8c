#include "passes/analysis/ReshardPath.h"

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
/// Detours are looked at for tensors of at most so many dimensions, over at most so many axes.
constexpr size_t kDimensionsOfDetours = 4;
constexpr int64_t kAxesOfDetours = 3;

class PathSearch {
public:
  PathSearch(ArrayRef<int64_t> whole, int64_t elementBytes, const Placement &target)
      : whole(whole), elementBytes(elementBytes), target(target), mesh(target.mesh) {}

  SmallVector<ReshardStep> run(const Placement &from) {
    findMovable(from);
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

  /// A detour may be cheaper: what is replicated, sliced first, makes the steps in between smaller, and an
  /// axis may wait in another dimension. With few axes in the two placements all detours are looked at; with
  /// many, an axis goes only where the target has it. Axes that neither placement has stay out of it: a
  /// data-parallel reduction is no matter of the tensor axis.
  void findMovable(const Placement &from) {
    Axes involved;
    for (const Placement *placement : {&from, &target}) {
      for (const dist::Split &split : placement->splits)
        involved = dist::unite(involved, split.axes);
      involved = dist::unite(involved, placement->allPending());
    }
    if (whole.size() <= kDimensionsOfDetours && static_cast<int64_t>(involved.size()) <= kAxesOfDetours)
      movable = involved;
  }

  double bytesOf(const Placement &placement) {
    double elements = static_cast<double>(elementBytes);
    for (int64_t size : dist::partShape(whole, placement))
      elements *= static_cast<double>(size);
    return elements;
  }

  void expand(int64_t index) {
    Placement here = states[index].placement;
    for (auto [dimension, split] : llvm::enumerate(here.splits))
      if (!split.axes.empty())
        leaveDimension(index, here, static_cast<int64_t>(dimension));
    for (dist::PendingKind kind : dist::kPendingKinds)
      reduce(index, here, here.pending(kind), target.pending(kind), kind);
    for (size_t axis = 0; axis < mesh.getSizes().size(); ++axis)
      if (here.isReplicatedOver(static_cast<int64_t>(axis)))
        splitReplicated(index, here, static_cast<int64_t>(axis));
  }

  double share(ArrayRef<int64_t> axes) {
    auto size = static_cast<double>(mesh.sizeOf(axes));
    return (size - 1) / size;
  }

  /// Takes the minor axis off a dimension: gathered, or moved to another dimension.
  void leaveDimension(int64_t index, const Placement &here, int64_t dimension) {
    int64_t axis = here.splits[dimension].axes.back();
    Placement next = here;
    next.splits[dimension].axes.pop_back();
    next.splits[dimension].zigzag &= !next.splits[dimension].axes.empty();
    reach(index, {ReshardKind::AllGather, {axis}, dimension, 0, {}, next, share({axis}) * bytesOf(next)});
    for (size_t other = 0; other < here.splits.size(); ++other) {
      if (static_cast<int64_t>(other) == dimension || !wants(other, axis))
        continue;
      Placement moved = next;
      if (!addAxis(moved, other, axis))
        continue;
      reach(index, {ReshardKind::AllToAll,
                    {axis},
                    dimension,
                    static_cast<int64_t>(other),
                    {},
                    moved,
                    share({axis}) * bytesOf(here)});
    }
  }

  /// Reduces what the target has reduced: all in one, which sends less than one axis after another, or one of
  /// them. On a detour also what the target has pending: a sum becomes pending again for nothing.
  void reduce(int64_t index, const Placement &here, const Axes &pending, const Axes &wanted,
              dist::PendingKind kind) {
    Axes due = dist::without(pending, wanted);
    if (due.size() > 1)
      allReduce(index, here, due, kind);
    for (int64_t axis : pending) {
      if (!llvm::is_contained(due, axis) &&
          (kind != dist::PendingKind::sum || !llvm::is_contained(movable, axis)))
        continue;
      allReduce(index, here, {axis}, kind);
      reduceScatter(index, here, axis, kind);
    }
  }

  static Placement reduced(Placement placement, const Axes &axes, dist::PendingKind kind) {
    placement.pending(kind) = dist::without(placement.pending(kind), axes);
    return placement;
  }

  void allReduce(int64_t index, const Placement &here, const Axes &axes, dist::PendingKind kind) {
    reach(index, {ReshardKind::AllReduce, axes, 0, 0, kind, reduced(here, axes, kind),
                  2 * share(axes) * bytesOf(here)});
  }

  void reduceScatter(int64_t index, const Placement &here, int64_t axis, dist::PendingKind kind) {
    Placement next = reduced(here, {axis}, kind);
    for (size_t dimension = 0; dimension < here.splits.size(); ++dimension) {
      if (!wants(dimension, axis))
        continue;
      Placement scattered = next;
      if (!addAxis(scattered, dimension, axis))
        continue;
      reach(index, {ReshardKind::ReduceScatter,
                    {axis},
                    static_cast<int64_t>(dimension),
                    0,
                    kind,
                    scattered,
                    share({axis}) * bytesOf(here)});
    }
  }

  void splitReplicated(int64_t index, const Placement &here, int64_t axis) {
    for (size_t dimension = 0; dimension < here.splits.size(); ++dimension) {
      if (!wants(dimension, axis))
        continue;
      Placement next = here;
      if (!addAxis(next, dimension, axis))
        continue;
      reach(index, {ReshardKind::Slice, {axis}, static_cast<int64_t>(dimension), 0, {}, next, 0});
    }
    // A zero is no neutral term of a log-sum-exp: that is taken first.
    if (llvm::is_contained(target.sum, axis) && here.lse.empty()) {
      Placement next = here;
      next.sum = dist::unite(next.sum, {axis});
      reach(index, {ReshardKind::KeepFirst, {axis}, 0, 0, {}, next, 0});
    }
  }

  /// Whether it is worth looking at this dimension split over the axis.
  bool wants(size_t dimension, int64_t axis) {
    return llvm::is_contained(movable, axis) || llvm::is_contained(target.splits[dimension].axes, axis);
  }

  /// Splits a dimension further; what was whole is cut in zigzag where the target begins like this. False if
  /// no zigzag is so fine.
  bool addAxis(Placement &placement, size_t dimension, int64_t axis) {
    dist::Split &split = placement.splits[dimension];
    if (split.axes.empty())
      split.zigzag = target.splits[dimension].zigzag && target.splits[dimension].axes.front() == axis;
    split.axes.push_back(axis);
    return !split.zigzag || whole[dimension] % (2 * mesh.sizeOf(split.axes)) == 0;
  }

  void reach(int64_t before, ReshardStep step) {
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

  SmallVector<ReshardStep> walkTo(int64_t index) {
    SmallVector<ReshardStep> steps;
    for (; states[index].before >= 0; index = states[index].before)
      steps.push_back(states[index].step);
    std::reverse(steps.begin(), steps.end());
    return merge(steps);
  }

  /// Neighbours that are one collective over several axes become it.
  SmallVector<ReshardStep> merge(ArrayRef<ReshardStep> steps) {
    SmallVector<ReshardStep> merged;
    for (const ReshardStep &step : steps) {
      if (merged.empty() || !mayJoin(merged.back(), step)) {
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

  bool mayJoin(const ReshardStep &last, const ReshardStep &step) {
    if (last.kind != step.kind || last.pending != step.pending)
      return false;
    if (step.kind == ReshardKind::AllReduce || step.kind == ReshardKind::KeepFirst)
      return true;
    if (step.kind == ReshardKind::AllToAll || last.dimension != step.dimension)
      return false;
    int64_t parts = mesh.sizeOf(last.axes) * mesh.sizeOf(step.axes);
    Axes outer = step.after.splits[step.dimension].axes;
    if (step.kind != ReshardKind::AllGather)
      outer.truncate(outer.size() - last.axes.size() - step.axes.size());
    return dist::partSize(mesh, whole[step.dimension], {outer, false}) % parts == 0;
  }

  ArrayRef<int64_t> whole;
  int64_t elementBytes;
  const Placement &target;
  dist::MeshAttr mesh;
  Axes movable; ///< axes that may go to any dimension on the way
  std::vector<State> states;
  llvm::DenseMap<mlir::Attribute, int64_t> known;
  std::priority_queue<std::pair<double, int64_t>, std::vector<std::pair<double, int64_t>>, std::greater<>>
      queue;
};
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

SmallVector<ReshardStep> reshardPath(ArrayRef<int64_t> whole, int64_t elementBytes, const Placement &from,
                                     const Placement &to) {
  if (from == to)
    return {};
  return PathSearch(whole, elementBytes, to).run(from);
}

double reshardBytes(ArrayRef<int64_t> whole, int64_t elementBytes, const Placement &from,
                    const Placement &to) {
  double bytes = 0;
  for (const ReshardStep &step : reshardPath(whole, elementBytes, from, to))
    bytes += step.bytes;
  return bytes;
}

} // namespace weft
