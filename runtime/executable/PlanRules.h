//===- PlanRules.h - Sizes, references and placements checked -------------===//
//
// The arithmetic that verify() rests on: sizes of types without overflow, ranges inside bases, and parts of
// tensors over the mesh. Internal to runtime/executable.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_PLANRULES_H
#define WEFT_RUNTIME_EXECUTABLE_PLANRULES_H

#include "runtime/executable/Executable.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include <span>
#include <string>

namespace weft {

/// No size in an executable may exceed this: sums of a few of them do not overflow 64 bits.
inline constexpr uint64_t kMaximumBytes = uint64_t{1} << 56;
inline constexpr size_t kMaximumRank = 32;
inline constexpr size_t kMaximumAxes = 64;
inline constexpr int64_t kMaximumRanks = int64_t{1} << 24;

/// The memory that one argument touches, relative to its base (or to a slot of it).
struct Range {
  Reference reference;
  uint64_t bytes = 0;

  uint64_t end() const { return reference.offset + bytes; }
  bool overlaps(const Range &other) const {
    return reference.base == other.reference.base && reference.offset < other.end() &&
           other.reference.offset < end();
  }
};

template <typename... Parts> absl::Status broken(const Parts &...parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

/// Bytes of a tensor. Fails on an unknown element type, a rank over kMaximumRank, a size below 1, or a total
/// over kMaximumBytes; the message does not say which tensor.
absl::StatusOr<uint64_t> checkedBytes(const TensorType &type);

/// Checks that `range` is aligned and ends inside its base, or inside one slot of it where `inSlot`.
absl::Status checkRange(const MemoryPlan &plan, const Range &range, bool inSlot);

/// Checks the object of generated kernels, and that it defines what the kernels of this part name.
absl::Status verifyObject(const Executable &executable);

/// Checks names and sizes of axes, the number of ranks, and the axes of roles.
absl::Status verifyMesh(const Mesh &mesh);

/// Checks that `axes` are indices of axes of the mesh, each at most once.
template <typename Integer> absl::Status checkAxes(const Mesh &mesh, std::span<const Integer> axes) {
  uint64_t seen = 0;
  for (Integer axis : axes) {
    if (axis < 0 || static_cast<uint64_t>(axis) >= mesh.axes.size())
      return broken("axis ", axis, " of ", mesh.axes.size());
    if (seen >> axis & 1)
      return broken("axis '", mesh.axes[static_cast<size_t>(axis)].name, "' is named twice");
    seen |= uint64_t{1} << axis;
  }
  return absl::OkStatus();
}

/// Checks that `type` is the type of a rank's part of a tensor that is placed so. The mesh has been verified,
/// and so have the sizes of `type`.
absl::Status checkPlacement(const Mesh &mesh, const TensorPlacement &placement, const TensorType &type);

/// Checks everything about one program. `kernelBytes` holds, per kernel, the bytes of its operands, then
/// results.
absl::Status verifyProgram(const Executable &executable, const Program &program,
                           std::span<const std::vector<uint64_t>> kernelBytes);

/// Checks that slots which share bytes of a region are never needed at the same time. Everything else about
/// the program has been verified.
absl::Status verifyInFlight(const Executable &executable, const Program &program);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_PLANRULES_H
