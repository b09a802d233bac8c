//===- Communicator.h - Collectives over a group of ranks -----------------===//
//
// All ranks of a group call the same operations in the same order, each with its own Communicator; a call
// returns when this rank's part is done. Reductions fold the ranks' values in ascending rank order, so
// results are the same bits on every rank and in every run. Memory is the host's. A rank that calls with
// arguments that cannot be right gets InvalidArgument before anything is sent.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_COMMUNICATOR_H
#define WEFT_RUNTIME_COMM_COMMUNICATOR_H

#include "kernels/common/Types.h"

#include "absl/status/status.h"

#include <cstddef>
#include <span>

namespace weft {

enum class ReduceKind : uint8_t { Sum, Max, Min };

class Communicator {
public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Returns when every rank has called it.
  virtual absl::Status barrier() = 0;
  /// Every rank's `bytes` become those of rank `root`. The same length on every rank.
  virtual absl::Status broadcast(std::span<std::byte> bytes, int root) = 0;
  /// `all` becomes the ranks' `mine`, in rank order; it is size() times as long.
  virtual absl::Status allGather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// `values`, elements of `type`, become their reduction over the ranks. i1 has no sum.
  virtual absl::Status allReduce(std::span<std::byte> values, DType type, ReduceKind kind) = 0;
  /// `mine` becomes this rank's part (the rank-th of size() equal ones) of the reduction of `all`.
  virtual absl::Status reduceScatter(std::span<const std::byte> all, std::span<std::byte> mine, DType type,
                                     ReduceKind kind) = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_COMMUNICATOR_H
