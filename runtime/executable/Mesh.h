//===- Mesh.h - Ranks as coordinates, and what of a tensor each rank holds --===//
//
// A job's ranks are the points of a mesh of named axes; the last axis varies fastest with the rank. A
// dimension of a tensor may be split over axes, major to minor: each axis cuts what the ones before it left
// by ceiling division, so at every level the last part may be shorter than the others. A rank's memory always
// has the size of a whole part; what lies behind the valid elements is unspecified. In zigzag a dimension is
// cut into twice as many equal chunks as there are parts, n, and part i is chunks i and 2n - 1 - i. No axes,
// no splits: one rank, and every tensor whole.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_MESH_H
#define WEFT_RUNTIME_EXECUTABLE_MESH_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct MeshAxis {
  std::string name; ///< unique
  uint32_t size = 1;
  bool operator==(const MeshAxis &) const = default;
};

/// What axes are for: `data`, `tensor`, ... One axis may have several roles.
struct MeshRole {
  std::string name; ///< unique
  std::vector<uint32_t> axes;
  bool operator==(const MeshRole &) const = default;
};

/// The role of the axes along which each rank runs a part of the job of its own.
inline constexpr std::string_view kPipelineRole = "pipeline";

struct Mesh {
  std::vector<MeshAxis> axes;
  std::vector<MeshRole> roles;

  /// The product of the axes' sizes.
  int64_t ranks() const;
  /// The coordinate of `rank` on the axis of this index.
  int64_t coordinate(int64_t rank, uint32_t axis) const;
  /// The axes of a role; none when the mesh has no such role.
  std::span<const uint32_t> axesOf(std::string_view role) const;
  /// The number of ranks along several axes together, and the place of `rank` among them, the first axis most
  /// significant.
  int64_t sizeOf(std::span<const uint32_t> which) const;
  int64_t indexOf(int64_t rank, std::span<const uint32_t> which) const;
  /// The number of ranks along the axes of the pipeline, 1 without a pipeline, and which of them `rank` is.
  int64_t pipelineRanks() const { return sizeOf(axesOf(kPipelineRole)); }
  int64_t pipelineRank(int64_t rank) const { return indexOf(rank, axesOf(kPipelineRole)); }
  /// The ranks that differ from `rank` on these axes alone, in the order of indexOf.
  std::vector<int64_t> group(int64_t rank, std::span<const uint32_t> which) const;
  bool operator==(const Mesh &) const = default;
};

/// How one dimension is split over axes of the mesh, major to minor.
struct DimensionSplit {
  std::vector<uint32_t> axes;
  bool zigzag = false;
  bool operator==(const DimensionSplit &) const = default;
};

/// Where the elements of a tensor are. Empty for a tensor that every rank holds whole.
struct TensorPlacement {
  std::vector<int64_t> globalShape;
  std::vector<DimensionSplit> dimensions; ///< one per dimension
  bool whole() const { return dimensions.empty(); }
  bool operator==(const TensorPlacement &) const = default;
};

/// A stretch of one dimension: `valid` elements from `start`, in `size` elements of memory.
struct Extent {
  int64_t start = 0;
  int64_t valid = 0;
  int64_t size = 0;
  bool operator==(const Extent &) const = default;
};

/// What `rank` holds of a dimension of `size` elements; in zigzag, of as many elements, where the first of
/// the two chunks starts.
Extent partOf(const Mesh &mesh, int64_t rank, int64_t size, const DimensionSplit &split);
/// The stretches that `rank` holds of a dimension, in the order of its memory: one, of which `size` may be
/// more than is valid, or the two chunks of a zigzag.
std::vector<Extent> stretchesOf(const Mesh &mesh, int64_t rank, int64_t size, const DimensionSplit &split);
/// What `rank` holds of a tensor: one extent per dimension of the global shape.
std::vector<Extent> partOf(const Mesh &mesh, int64_t rank, const TensorPlacement &placement);
/// True for one of the ranks that hold the same part: the one whose place along the pipeline is
/// `pipelineOwner`, and whose coordinates on all other axes are 0.
bool ownsPart(const Mesh &mesh, int64_t rank, const TensorPlacement &placement, int64_t pipelineOwner);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_MESH_H
