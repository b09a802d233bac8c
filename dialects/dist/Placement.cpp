#include "dialects/dist/Placement.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace weft::dist {

bool Placement::splitsOver(int64_t axis) const {
  return llvm::any_of(splits, [&](const Split &split) { return llvm::is_contained(split.axes, axis); });
}
bool Placement::isReplicatedOver(int64_t axis) const {
  return !splitsOver(axis) && !llvm::is_contained(allPending(), axis);
}
Axes Placement::allPending() const { return unite(unite(sum, max), unite(lse, tree)); }
bool Placement::isReplicated() const {
  return !isPending() && llvm::all_of(splits, [](const Split &split) { return split.axes.empty(); });
}

Placement replicated(MeshAttr mesh, int64_t rank) {
  Placement placement;
  placement.mesh = mesh;
  placement.splits.resize(rank);
  return placement;
}

bool isLocal(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_nonnull<LocalAttr>(tensor.getEncoding());
}

ArrayRef<int64_t> wholeShape(RankedTensorType type) {
  if (auto local = dyn_cast_or_null<LocalAttr>(type.getEncoding()))
    return local.getWholeShape();
  return type.getShape();
}

RankedTensorType globalType(ArrayRef<int64_t> whole, Type element, const Placement &placement) {
  return RankedTensorType::get(whole, element, placement ? attributeOf(placement) : Attribute());
}

RankedTensorType localType(ArrayRef<int64_t> whole, Type element, const Placement &placement) {
  return RankedTensorType::get(partShape(whole, placement), element,
                               LocalAttr::get(element.getContext(), whole, attributeOf(placement)));
}

RankedTensorType withPlacement(RankedTensorType type, const Placement &placement) {
  return isLocal(type) ? localType(wholeShape(type), type.getElementType(), placement)
                       : globalType(type.getShape(), type.getElementType(), placement);
}

RankedTensorType withoutPlacement(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

int64_t dimensionOver(RankedTensorType type, ArrayRef<int64_t> axes) {
  for (auto [dimension, split] : llvm::enumerate(placementOf(type).splits))
    if (ArrayRef<int64_t>(split.axes) == axes)
      return static_cast<int64_t>(dimension);
  return -1;
}

RankedTensorType blockType(RankedTensorType type, ArrayRef<int64_t> axes) {
  Placement placement = placementOf(type);
  SmallVector<int64_t> whole(wholeShape(type));
  if (int64_t dimension = dimensionOver(type, axes); dimension >= 0) {
    whole[dimension] = type.getDimSize(static_cast<unsigned>(dimension));
    placement.splits[dimension] = {};
  }
  return localType(whole, type.getElementType(), placement);
}

RankedTensorType homeBlockType(RankedTensorType type, ArrayRef<int64_t> axes) {
  RankedTensorType block = blockType(type, axes);
  Placement placement = placementOf(block);
  placement.sum = unite(placement.sum, axes);
  return withPlacement(block, placement);
}

int64_t partSize(MeshAttr mesh, int64_t size, const Split &split) {
  for (int64_t axis : split.axes)
    size = static_cast<int64_t>(llvm::divideCeil(static_cast<uint64_t>(size), mesh.getSizes()[axis]));
  return size;
}

SmallVector<int64_t> partShape(ArrayRef<int64_t> whole, const Placement &placement) {
  SmallVector<int64_t> shape;
  for (auto [size, split] : llvm::zip_equal(whole, placement.splits))
    shape.push_back(partSize(placement.mesh, size, split));
  return shape;
}

bool dividesEvenly(MeshAttr mesh, int64_t size, const Split &split) {
  return size % mesh.sizeOf(split.axes) == 0;
}

Axes unite(ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
  Axes all(left);
  for (int64_t axis : right)
    if (!llvm::is_contained(all, axis))
      all.push_back(axis);
  std::sort(all.begin(), all.end());
  return all;
}

Axes without(ArrayRef<int64_t> axes, ArrayRef<int64_t> removed) {
  Axes rest;
  for (int64_t axis : axes)
    if (!llvm::is_contained(removed, axis))
      rest.push_back(axis);
  return rest;
}

std::string describe(MeshAttr mesh, ArrayRef<int64_t> axes) {
  std::string text = "[";
  for (auto [index, axis] : llvm::enumerate(axes))
    text += (index == 0 ? "" : ", ") + mesh.getNames()[axis].getValue().str();
  return text + "]";
}

std::string describe(const Placement &placement) {
  std::string text;
  auto append = [&](StringRef what, ArrayRef<int64_t> axes) {
    text += (text.empty() ? "" : " ") + what.str() + describe(placement.mesh, axes);
  };
  for (const Split &split : placement.splits)
    append(split.zigzag ? "zigzag " : "", split.axes);
  for (PendingKind kind : kPendingKinds)
    if (const Axes &axes = placement.pending(kind); !axes.empty())
      append((stringifyPendingKind(kind) + " ").str(), axes);
  return text.empty() ? "(replicated)" : text;
}

std::string describe(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  Placement placement = placementOf(type);
  stream << "'" << withoutPlacement(type) << "'";
  if (isLocal(type)) {
    stream << ", the part of " << (type.getRank() == 0 ? "a scalar" : "");
    llvm::interleave(wholeShape(type), stream, "x");
  }
  if (placement)
    stream << " at " << describe(placement);
  return text;
}

} // namespace weft::dist
