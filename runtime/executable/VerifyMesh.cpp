//===- VerifyMesh.cpp - Meshes and placements that may be relied on -------===//
//
// After these checks the functions of Mesh.h cannot overflow or read past the end, whatever a file says.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/PlanRules.h"

#include "absl/container/flat_hash_set.h"

#include <algorithm>

namespace weft {

absl::Status verifyMesh(const Mesh &mesh) {
  if (mesh.axes.size() > kMaximumAxes)
    return broken("mesh: ", mesh.axes.size(), " axes, at most ", kMaximumAxes, " are allowed");
  absl::flat_hash_set<std::string> names;
  int64_t ranks = 1;
  for (const MeshAxis &axis : mesh.axes) {
    if (axis.name.empty() || !names.insert(axis.name).second)
      return broken("mesh: axis '", axis.name, "': names of axes must be unique and not empty");
    if (axis.size < 1)
      return broken("mesh: axis '", axis.name, "' has size 0, sizes start at 1");
    ranks *= axis.size;
    if (ranks > kMaximumRanks)
      return broken("mesh: with axis '", axis.name, "' there are more than ", kMaximumRanks, " ranks");
  }
  names.clear();
  for (const MeshRole &role : mesh.roles) {
    if (role.name.empty() || !names.insert(role.name).second)
      return broken("mesh: role '", role.name, "': names of roles must be unique and not empty");
    if (absl::Status status = checkAxes<uint32_t>(mesh, role.axes); !status.ok())
      return broken("mesh: role '", role.name, "': ", status.message());
  }
  return absl::OkStatus();
}

absl::Status checkPlacement(const Mesh &mesh, const TensorPlacement &placement, const TensorType &type) {
  if (placement.dimensions.size() != placement.globalShape.size())
    return broken("placement: ", placement.dimensions.size(), " splits for ", placement.globalShape.size(),
                  " dimensions");
  if (placement.whole())
    return absl::OkStatus();
  if (placement.globalShape.size() != type.shape.size())
    return broken("placement: ", placement.globalShape.size(), " dimensions, ", type.str(), " has ",
                  type.shape.size());
  TensorType global{type.dtype, placement.globalShape};
  if (absl::StatusOr<uint64_t> bytes = checkedBytes(global); !bytes.ok())
    return broken("placement: ", bytes.status().message());
  std::vector<uint32_t> used;
  for (const DimensionSplit &split : placement.dimensions)
    used.insert(used.end(), split.axes.begin(), split.axes.end());
  if (absl::Status status = checkAxes<uint32_t>(mesh, used); !status.ok())
    return broken("placement: ", status.message());
  for (uint32_t axis : mesh.axesOf(kPipelineRole))
    if (std::find(used.begin(), used.end(), axis) != used.end())
      return broken("placement: axis '", mesh.axes[axis].name,
                    "' is of the pipeline, which splits no tensor");
  for (size_t i = 0; i < placement.dimensions.size(); ++i)
    if (const DimensionSplit &split = placement.dimensions[i];
        split.zigzag && placement.globalShape[i] % (2 * mesh.sizeOf(split.axes)) != 0)
      return broken("placement: dimension ", i, " of ", global.str(), " is in zigzag over ",
                    mesh.sizeOf(split.axes), " ranks, and no multiple of ", 2 * mesh.sizeOf(split.axes));
  TensorType part{type.dtype, {}};
  for (const Extent &extent : partOf(mesh, 0, placement)) // parts have the same size on all ranks
    part.shape.push_back(extent.size);
  if (part != type)
    return broken("placement: a part of ", global.str(), " is ", part.str(), ", not ", type.str());
  return absl::OkStatus();
}

} // namespace weft
