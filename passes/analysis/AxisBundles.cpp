#include "passes/analysis/AxisBundles.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
namespace {
using dist::Axes;
using dist::Placement;

/// Where an axis is in a placement: nowhere, pending in one of the ways, or in a dimension.
struct Seat {
  int64_t place = 0;
  int64_t position = 0; ///< in the dimension or the tree, 0 is major

  auto operator<=>(const Seat &) const = default;
  static int64_t placeOf(dist::PendingKind kind) {
    return llvm::find(dist::kPendingKinds, kind) - dist::kPendingKinds.begin() + 1;
  }
  /// In a dimension and in a tree the order of axes counts.
  bool isOrdered() const {
    return place > static_cast<int64_t>(dist::kPendingKinds.size()) ||
           place == placeOf(dist::PendingKind::tree);
  }
  /// Whether an axis at `next` goes with one that is here.
  bool isBefore(const Seat &next) const {
    return place == next.place && (!isOrdered() || position + 1 == next.position);
  }
};

Seat seatOf(int64_t axis, const Placement &placement) {
  for (dist::PendingKind kind : dist::kPendingKinds)
    if (const auto *found = llvm::find(placement.pending(kind), axis); found != placement.pending(kind).end())
      return {Seat::placeOf(kind),
              kind == dist::PendingKind::tree ? found - placement.pending(kind).begin() : 0};
  for (auto [dimension, split] : llvm::enumerate(placement.splits))
    if (const auto *found = llvm::find(split.axes, axis); found != split.axes.end())
      return {static_cast<int64_t>(dist::kPendingKinds.size() + 1 + dimension), found - split.axes.begin()};
  return {};
}
} // namespace

Axes involvedAxes(const Placement &from, const Placement &to) {
  Axes involved;
  for (const Placement *placement : {&from, &to}) {
    for (const dist::Split &split : placement->splits)
      involved = dist::unite(involved, split.axes);
    involved = dist::unite(involved, placement->allPending());
  }
  return involved;
}

AxisBundles::AxisBundles(const Placement &from, const Placement &to) {
  struct Seated {
    Seat before, after;
    int64_t axis;
    auto operator<=>(const Seated &) const = default;
  };
  SmallVector<Seated> seated;
  for (int64_t axis : involvedAxes(from, to))
    seated.push_back({seatOf(axis, from), seatOf(axis, to), axis});
  llvm::sort(seated);
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (auto [index, here] : llvm::enumerate(seated)) {
    const Seated *last = index == 0 ? nullptr : &seated[index - 1];
    if (!last || !last->before.isBefore(here.before) || !last->after.isBefore(here.after)) {
      members.emplace_back();
      names.push_back(from.mesh.getNames()[here.axis]);
      sizes.push_back(1);
    }
    members.back().push_back(here.axis);
    sizes.back() *= from.mesh.getSizes()[here.axis];
  }
  MLIRContext *context = from.mesh.getContext();
  mesh = dist::MeshAttr::get(context, names, sizes, DictionaryAttr::get(context));
}

Placement AxisBundles::bundled(const Placement &placement) const {
  Placement result = dist::replicated(mesh, static_cast<int64_t>(placement.splits.size()));
  for (auto [bundle, axes] : llvm::enumerate(members)) {
    auto number = static_cast<int64_t>(bundle);
    for (dist::PendingKind kind : dist::kPendingKinds)
      if (llvm::is_contained(placement.pending(kind), axes.front()))
        result.pending(kind).push_back(number);
  }
  for (auto [split, whole] : llvm::zip_equal(result.splits, placement.splits)) {
    split.zigzag = whole.zigzag;
    for (int64_t axis : whole.axes)
      for (auto [bundle, axes] : llvm::enumerate(members))
        if (axes.front() == axis)
          split.axes.push_back(static_cast<int64_t>(bundle));
  }
  return result;
}

Axes AxisBundles::axesOf(ArrayRef<int64_t> bundles) const {
  Axes axes;
  for (int64_t bundle : bundles)
    llvm::append_range(axes, members[bundle]);
  return axes;
}

} // namespace weft
