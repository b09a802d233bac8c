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
/// With at most so many axes to move, an axis may also wait in a dimension in which it does not stay.
constexpr size_t kAxesThatMayWait = 4;

class PathSearch {
public:
  PathSearch(ArrayRef<int64_t> whole, int64_t elementBytes, const Placement &target)
      : whole(whole), elementBytes(elementBytes), target(target), mesh(target.mesh) {}

  SmallVector<ReshardStep> run(const Placement &from) {
    mayWait = axesToMove(from);
    if (mayWait.size() > kAxesThatMayWait)
      mayWait.clear();
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

  /// The axes that split dimensions otherwise at the start than in the target, behind what both begin with.
  Axes axesToMove(const Placement &from) {
    Axes axes;
    for (auto [before, after] : llvm::zip_equal(from.splits, target.splits)) {
      size_t same = 0;
      while (same < std::min(before.axes.size(), after.axes.size()) && before.axes[same] == after.axes[same])
        ++same;
      axes = dist::unite(axes, ArrayRef(before.axes).drop_front(same));
    }
    return axes;
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
      reduce(index, here, dist::without(here.pending(kind), target.pending(kind)), kind);
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
    if (next.splits[dimension].axes.empty())
      next.splits[dimension].zigzag = false;
    reach(index, {ReshardKind::AllGather, {axis}, dimension, 0, {}, next, share({axis}) * bytesOf(next)});
    for (size_t other = 0; other < here.splits.size(); ++other) {
      if (static_cast<int64_t>(other) == dimension ||
          !(wants(other, axis) || llvm::is_contained(mayWait, axis)))
        continue;
      Placement moved = next;
      moved.splits[other].axes.push_back(axis);
      reach(index, {ReshardKind::AllToAll,
                    {axis},
                    dimension,
                    static_cast<int64_t>(other),
                    {},
                    moved,
                    share({axis}) * bytesOf(here)});
    }
  }

  /// Reduces the axes: all in one, which sends less than one after another, or one of them.
  void reduce(int64_t index, const Placement &here, const Axes &axes, dist::PendingKind kind) {
    if (axes.size() > 1)
      allReduce(index, here, axes, kind);
    for (int64_t axis : axes) {
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
      scattered.splits[dimension].axes.push_back(axis);
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
      next.splits[dimension].axes.push_back(axis);
      reach(index, {ReshardKind::Slice, {axis}, static_cast<int64_t>(dimension), 0, {}, next, 0});
    }
    if (llvm::is_contained(target.sum, axis)) {
      Placement next = here;
      next.sum = dist::unite(next.sum, {axis});
      reach(index, {ReshardKind::KeepFirst, {axis}, 0, 0, {}, next, 0});
    }
  }

  /// Whether the target splits this dimension over the axis: nothing else is worth moving there.
  bool wants(size_t dimension, int64_t axis) {
    return llvm::is_contained(target.splits[dimension].axes, axis);
  }

  void reach(int64_t before, ReshardStep step) {
    for (auto [split, wanted] : llvm::zip_equal(step.after.splits, target.splits))
      split.zigzag = wanted.zigzag && split.axes == wanted.axes;
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
  Axes mayWait;
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
