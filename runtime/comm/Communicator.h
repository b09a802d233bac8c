//===- Communicator.h - Collectives over a group of ranks -----------------===//
//
// All ranks of a group call the same operations in the same order, each with its own Communicator, one at a
// time; a call returns when this rank's part is done. Reductions fold the ranks' values in ascending rank
// order, so results are the same bits on every rank and in every run. Memory is the host's. A rank that calls
// with arguments that cannot be right gets InvalidArgument before anything is sent.
//
// Nothing hangs: ranks whose calls differ, or that wait for each other in different groups, get
// InvalidArgument with both sides; a rank that is waited for and has left, died, or does not come within the
// limit of the phase is lost, and then every call of every rank fails (Unavailable) and names it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_COMMUNICATOR_H
#define WEFT_RUNTIME_COMM_COMMUNICATOR_H

#include "kernels/collective/Fold.h"
#include "kernels/collective/Line.h"
#include "kernels/common/Types.h"
#include "runtime/comm/RankActivity.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <memory>
#include <span>

namespace weft {

class Communicator {
public:
  /// The rank leaves: calls of others that wait for it fail.
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Returns when every rank has called it.
  virtual absl::Status barrier() = 0;
  /// Every rank's `bytes` become those of rank `root`. The same length on every rank.
  virtual absl::Status broadcast(std::span<std::byte> bytes, int root) = 0;
  /// `all` becomes the ranks' `mine`, in rank order; it is size() times as long. `mine` may be its own place
  /// in `all`.
  virtual absl::Status allGather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// `values`, elements of `type`, become their reduction over the ranks. i1 has no sum.
  virtual absl::Status allReduce(std::span<std::byte> values, DType type, ReduceKind kind) = 0;
  /// `mine` becomes this rank's part (the rank-th of size() equal ones) of the reduction of `all`.
  virtual absl::Status reduceScatter(std::span<const std::byte> all, std::span<std::byte> mine, DType type,
                                     ReduceKind kind) = 0;

  /// How long a call may wait in each phase, on this rank; forever until it is set.
  virtual void setLimits(const WaitLimits &limits) = 0;
  /// The rank begins a phase: what reports of a failure say, and which limit counts.
  virtual void enter(Phase phase, int64_t step) = 0;

  /// Ends the group for all of its ranks: every pending call that not all ranks have joined, and every later
  /// one, fails with the code and payloads of `cause` and the message "rank R gave up: ...". Safe from any
  /// thread; the first cause counts.
  virtual void abort(absl::Status cause) = 0;

  /// This rank's end of the group of `ranks`, in that order, itself among them: what collective kernels run
  /// on. It may outlive the communicator, and then fails. InvalidArgument when `ranks` are no such group.
  virtual absl::StatusOr<std::shared_ptr<Exchange>> exchange(std::span<const int64_t> ranks) = 0;
  /// This rank's line to rank `peer`, another one of the communicator's: like exchange().
  virtual absl::StatusOr<std::shared_ptr<Line>> line(int64_t peer) = 0;
  /// The first failure of an exchange or line of this rank, after which all of them fail; OK while there is
  /// none.
  virtual absl::Status exchangeStatus() const = 0;
  /// What this rank has sent since the beginning, by operation, its exchanges and lines included.
  virtual Traffic traffic() const = 0;
};

/// Whether a failure is what another rank gave up with ("rank R gave up: ..."): that rank tells it.
bool isOfAnotherRank(const absl::Status &status);

} // namespace weft

#endif // WEFT_RUNTIME_COMM_COMMUNICATOR_H
