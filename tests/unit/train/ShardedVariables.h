//===- ShardedVariables.h - Variables on many meshes, without a compiler --===//
//
// Executables that hold variables and no programs, the same variables on each mesh, split as data
// parallelism, tensor parallelism and ZeRO would, with sizes that do not divide, and shared out among the
// ranks of a pipeline. What a rank must hold is computed from the whole by partOf() alone.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_TRAIN_SHARDEDVARIABLES_H
#define WEFT_TESTS_UNIT_TRAIN_SHARDEDVARIABLES_H

#include "runtime/executable/Executable.h"

#include <cstring>
#include <vector>

namespace weft::testing {

/// A mesh of these axes; names that begin with `d` are data axes, with `t` tensor axes, with `p` axes of the
/// pipeline.
inline Mesh meshWith(std::vector<MeshAxis> axes) {
  Mesh mesh;
  mesh.axes = std::move(axes);
  MeshRole data{"data", {}}, tensor{"tensor", {}}, pipeline{"pipeline", {}};
  for (uint32_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const char letter = mesh.axes[axis].name.front();
    (letter == 'd' ? data : letter == 't' ? tensor : pipeline).axes.push_back(axis);
  }
  if (!mesh.axes.empty())
    mesh.roles = {data, tensor, pipeline};
  return mesh;
}

/// Splits that a variable may have, by the roles of a mesh: `D` over data axes, `T` over tensor axes, both in
/// this order; `.` not at all.
enum class Holds { All, First, Last }; ///< which pipeline ranks hold a variable
struct ShardedVariable {
  const char *name;
  Holds holds;
  std::vector<int64_t> shape;
  DType type;
  bool trainable;
  std::vector<const char *> splits; ///< per dimension; none: whole on every rank
};

inline const std::vector<ShardedVariable> &shardedVariables() {
  static const std::vector<ShardedVariable> variables = {
      {"embedding", Holds::All, {13, 6}, DType::F32, true, {"T", "."}},           // an odd vocabulary
      {"projection", Holds::First, {6, 5, 7}, DType::F32, true, {".", "D", "T"}}, // ZeRO-3 on one dimension,
                                                                                  // tensor on another
      {"norm", Holds::Last, {6}, DType::BF16, true, {}},
      {"moment.embedding", Holds::All, {13, 6}, DType::F64, false, {"TD", "."}}, // ZeRO-1 below the tensor
                                                                                 // split
      {"moment.norm", Holds::Last, {6}, DType::F32, false, {"D"}}, // fewer elements than some meshes have
                                                                   // ranks
      {"steps", Holds::All, {}, DType::I64, false, {}},
  };
  return variables;
}

inline TensorPlacement placementOn(const Mesh &mesh, const ShardedVariable &variable) {
  TensorPlacement placement;
  if (variable.splits.empty() || mesh.axes.empty())
    return placement;
  placement.globalShape = variable.shape;
  for (const char *letters : variable.splits) {
    DimensionSplit &split = placement.dimensions.emplace_back();
    for (const char *letter = letters; *letter; ++letter)
      if (*letter != '.')
        for (uint32_t axis : mesh.axesOf(*letter == 'D' ? "data" : "tensor"))
          split.axes.push_back(axis);
  }
  return placement;
}

inline bool isHeld(const ShardedVariable &variable, int64_t pipelineRank, int64_t pipelineRanks) {
  return variable.holds == Holds::All ||
         pipelineRank == (variable.holds == Holds::First ? 0 : pipelineRanks - 1);
}

inline Executable shardedPart(const Mesh &mesh, int64_t pipelineRank) {
  Executable executable;
  executable.weftVersion = "0.1.0";
  executable.target = {"avx2"};
  executable.mesh = mesh;
  uint64_t offset = 0;
  for (const ShardedVariable &sharded : shardedVariables()) {
    if (!isHeld(sharded, pipelineRank, mesh.pipelineRanks()))
      continue;
    Variable variable;
    variable.name = sharded.name;
    variable.pipelineOwner = sharded.holds == Holds::Last ? static_cast<uint32_t>(pipelineRank) : 0;
    variable.checkpointName = std::string("model.") + sharded.name;
    variable.type = {sharded.type, sharded.shape};
    variable.placement = placementOn(mesh, sharded);
    if (!variable.placement.whole())
      for (size_t d = 0; d < sharded.shape.size(); ++d)
        variable.type.shape[d] = partOf(mesh, 0, variable.placement)[d].size;
    variable.reference = {0, offset};
    variable.initializer = {InitializerKind::Normal, {0.5, 2}};
    variable.trainable = sharded.trainable;
    variable.isState = !sharded.trainable;
    const auto bytes = static_cast<uint64_t>(variable.type.bytes());
    offset += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    executable.variables.push_back(std::move(variable));
  }
  executable.memory.bases = {{"parameters", BaseKind::Parameters, 1, offset}};
  executable.memory.rows = {{"parameters", "all", offset}};
  return executable;
}

inline std::vector<Executable> shardedParts(const Mesh &mesh) {
  std::vector<Executable> parts;
  for (int64_t pipelineRank = 0; pipelineRank < mesh.pipelineRanks(); ++pipelineRank)
    parts.push_back(shardedPart(mesh, pipelineRank));
  return parts;
}

/// The valid part of a rank's memory, cut out of the bytes of the whole.
inline std::vector<std::byte> cutOut(const Mesh &mesh, int64_t rank, const ShardedVariable &variable,
                                     const std::vector<std::byte> &whole) {
  const TensorPlacement placement = placementOn(mesh, variable);
  if (placement.whole())
    return whole;
  const std::vector<Extent> extents = partOf(mesh, rank, placement);
  const auto width = static_cast<size_t>(byteSize(variable.type));
  std::vector<std::byte> part;
  for (size_t index = 0; index < whole.size() / width; ++index) {
    bool inside = true;
    for (size_t d = extents.size(), rest = index; d-- > 0; rest /= static_cast<size_t>(variable.shape[d])) {
      const auto at = static_cast<int64_t>(rest % static_cast<size_t>(variable.shape[d]));
      inside &= at >= extents[d].start && at < extents[d].start + extents[d].valid;
    }
    if (inside)
      part.insert(part.end(), whole.begin() + static_cast<int64_t>(index * width),
                  whole.begin() + static_cast<int64_t>((index + 1) * width));
  }
  return part;
}

/// The valid part of a rank's memory, as it lies there; `behind` says whether all else is zero.
inline std::vector<std::byte> validPart(const Mesh &mesh, int64_t rank, const ShardedVariable &variable,
                                        std::span<const std::byte> memory, bool &behind) {
  behind = true;
  const TensorPlacement placement = placementOn(mesh, variable);
  if (placement.whole())
    return {memory.begin(), memory.end()};
  const std::vector<Extent> extents = partOf(mesh, rank, placement);
  const auto width = static_cast<size_t>(byteSize(variable.type));
  std::vector<std::byte> part;
  for (size_t index = 0; index < memory.size() / width; ++index) {
    bool inside = true;
    for (size_t d = extents.size(), rest = index; d-- > 0; rest /= static_cast<size_t>(extents[d].size))
      inside &= static_cast<int64_t>(rest % static_cast<size_t>(extents[d].size)) < extents[d].valid;
    std::span<const std::byte> element = memory.subspan(index * width, width);
    if (inside)
      part.insert(part.end(), element.begin(), element.end());
    else
      for (std::byte byte : element)
        behind &= byte == std::byte{0};
  }
  return part;
}

/// Meshes of 1 to 16 ranks, in one and several axes.
inline std::vector<Mesh> shardingMeshes() {
  return {meshWith({}),
          meshWith({{"d0", 2}}),
          meshWith({{"t0", 3}}),
          meshWith({{"d0", 2}, {"t0", 2}}),
          meshWith({{"d0", 2}, {"d1", 2}, {"t0", 2}}),
          meshWith({{"d0", 8}}),
          meshWith({{"d0", 3}, {"t0", 2}, {"t1", 2}}),
          meshWith({{"p0", 2}}),
          meshWith({{"p0", 3}, {"d0", 2}}),
          meshWith({{"p0", 2}, {"p1", 2}, {"d0", 2}, {"t0", 2}})};
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_TRAIN_SHARDEDVARIABLES_H
