#include "runtime/executable/Mesh.h"

#include <algorithm>

namespace weft {

int64_t Mesh::ranks() const {
  int64_t product = 1;
  for (const MeshAxis &axis : axes)
    product *= axis.size;
  return product;
}

int64_t Mesh::coordinate(int64_t rank, uint32_t axis) const {
  for (size_t index = axes.size() - 1; index > axis; --index)
    rank /= axes[index].size;
  return rank % axes[axis].size;
}

std::span<const uint32_t> Mesh::axesOf(std::string_view role) const {
  for (const MeshRole &known : roles)
    if (known.name == role)
      return known.axes;
  return {};
}

int64_t Mesh::sizeOf(std::span<const uint32_t> which) const {
  int64_t product = 1;
  for (uint32_t axis : which)
    product *= axes[axis].size;
  return product;
}

int64_t Mesh::indexOf(int64_t rank, std::span<const uint32_t> which) const {
  int64_t index = 0;
  for (uint32_t axis : which)
    index = index * axes[axis].size + coordinate(rank, axis);
  return index;
}

std::vector<int64_t> Mesh::group(int64_t rank, std::span<const uint32_t> which) const {
  std::vector<int64_t> members(static_cast<size_t>(sizeOf(which)));
  for (int64_t other = 0; other < ranks(); ++other) {
    bool together = true;
    for (uint32_t axis = 0; axis < axes.size(); ++axis)
      if (std::find(which.begin(), which.end(), axis) == which.end())
        together &= coordinate(other, axis) == coordinate(rank, axis);
    if (together)
      members[static_cast<size_t>(indexOf(other, which))] = other;
  }
  return members;
}

Extent partOf(const Mesh &mesh, int64_t rank, int64_t size, const DimensionSplit &split) {
  if (split.zigzag)
    return {stretchesOf(mesh, rank, size, split).front().start, size / mesh.sizeOf(split.axes),
            size / mesh.sizeOf(split.axes)};
  Extent extent{0, size, size};
  for (uint32_t axis : split.axes) {
    int64_t parts = mesh.axes[axis].size, index = mesh.coordinate(rank, axis);
    int64_t each = (extent.size + parts - 1) / parts;
    int64_t start = std::min(index * each, extent.size);
    extent.start += start;
    extent.valid = std::clamp(extent.valid - start, int64_t{0}, each);
    extent.size = each;
  }
  return extent;
}

std::vector<Extent> stretchesOf(const Mesh &mesh, int64_t rank, int64_t size, const DimensionSplit &split) {
  if (!split.zigzag)
    return {partOf(mesh, rank, size, split)};
  const int64_t parts = mesh.sizeOf(split.axes), index = mesh.indexOf(rank, split.axes);
  const int64_t chunk = size / (2 * parts);
  return {{index * chunk, chunk, chunk}, {(2 * parts - 1 - index) * chunk, chunk, chunk}};
}

std::vector<Extent> partOf(const Mesh &mesh, int64_t rank, const TensorPlacement &placement) {
  std::vector<Extent> extents;
  for (size_t dimension = 0; dimension < placement.dimensions.size(); ++dimension)
    extents.push_back(partOf(mesh, rank, placement.globalShape[dimension], placement.dimensions[dimension]));
  return extents;
}

bool ownsPart(const Mesh &mesh, int64_t rank, const TensorPlacement &placement) {
  for (uint32_t axis = 0; axis < mesh.axes.size(); ++axis) {
    bool splits = std::any_of(
        placement.dimensions.begin(), placement.dimensions.end(), [&](const DimensionSplit &split) {
          return std::find(split.axes.begin(), split.axes.end(), axis) != split.axes.end();
        });
    if (!splits && mesh.coordinate(rank, axis) != 0)
      return false;
  }
  return true;
}

} // namespace weft
