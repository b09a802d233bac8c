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
  // The first member is at 0 on every axis of the group; each axis, the minor last, multiplies the members.
  int64_t first = rank;
  std::vector<int64_t> strides;
  for (uint32_t axis : which) {
    int64_t stride = 1;
    for (size_t minor = axis + size_t{1}; minor < axes.size(); ++minor)
      stride *= axes[minor].size;
    first -= coordinate(rank, axis) * stride;
    strides.push_back(stride);
  }
  std::vector<int64_t> members = {first};
  for (size_t index = 0; index < which.size(); ++index) {
    std::vector<int64_t> more;
    for (int64_t member : members)
      for (int64_t place = 0; place < axes[which[index]].size; ++place)
        more.push_back(member + place * strides[index]);
    members = std::move(more);
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

bool ownsPart(const Mesh &mesh, int64_t rank, const TensorPlacement &placement, int64_t pipelineOwner) {
  if (mesh.pipelineRank(rank) != pipelineOwner)
    return false;
  const std::span<const uint32_t> pipeline = mesh.axesOf(kPipelineRole);
  for (uint32_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (std::find(pipeline.begin(), pipeline.end(), axis) != pipeline.end())
      continue;
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
