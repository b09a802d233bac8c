//===- PlanRules.h - Sizes and references checked against a plan ----------===//
//
// The arithmetic that verify() rests on: sizes of types without overflow, and ranges inside bases. Internal
// to runtime/executable.
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

/// Checks everything about one program. `kernelBytes` holds, per kernel, the bytes of its operands, then
/// results.
absl::Status verifyProgram(const Executable &executable, const Program &program,
                           std::span<const std::vector<uint64_t>> kernelBytes);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_PLANRULES_H
