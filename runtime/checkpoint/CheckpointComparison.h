//===- CheckpointComparison.h - Where two checkpoints differ --------------===//
//
// Tensor by tensor: equal bits, or how many elements differ, which is the first, and how far apart they are.
// Values are compared in float64; bits decide what is equal (so NaN equals the same NaN, and -0 differs from
// 0).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_CHECKPOINTCOMPARISON_H
#define WEFT_RUNTIME_CHECKPOINT_CHECKPOINTCOMPARISON_H

#include "runtime/checkpoint/Checkpoint.h"

#include <optional>

namespace weft::checkpoint {

struct TensorComparison {
  std::string name;
  std::optional<TensorType> first;  ///< Absent when the first checkpoint has no such tensor.
  std::optional<TensorType> second; ///< Likewise.

  // Of tensors whose types are equal:
  int64_t differing = 0;   ///< Elements whose bits differ.
  int64_t firstIndex = -1; ///< Row-major index of the first of them.
  int64_t notFinite =
      0; ///< Of them, those where either is NaN or infinite; they do not enter the two maxima.
  double maxAbsolute = 0; ///< Of |a - b|.
  double maxRelative = 0; ///< Of |a - b| / max(|a|, |b|).

  bool equal() const { return first && first == second && differing == 0; }
};

/// One entry for each name that occurs, sorted. Reads and verifies every byte of both.
absl::StatusOr<std::vector<TensorComparison>> compareTensors(const Checkpoint &first,
                                                             const Checkpoint &second);

/// The keys of the run states whose values differ, as JSON pointers: /step, /text/config, /values/seed.
std::vector<std::string> compareStates(const CheckpointState &first, const CheckpointState &second);

/// Compares two buffers of one type. Fills all of the result but the name and the types.
TensorComparison compareElements(DType type, std::span<const std::byte> first,
                                 std::span<const std::byte> second);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_CHECKPOINTCOMPARISON_H
