//===- GroupCommunicator.h - A communicator's operations over an exchange -===//
//
// Every backend is an exchange over all of its ranks; the operations of Communicator are written once, on
// that. Reductions fold here, in rank order, whoever moved the bytes. Internal to runtime/comm.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_GROUPCOMMUNICATOR_H
#define WEFT_RUNTIME_COMM_GROUPCOMMUNICATOR_H

#include "runtime/comm/Communicator.h"

#include <vector>

namespace weft {

class GroupCommunicator : public Communicator {
public:
  int rank() const override { return everyone->member(); }
  int size() const override { return everyone->size(); }

  absl::Status barrier() override;
  absl::Status broadcast(std::span<std::byte> bytes, int root) override;
  absl::Status allGather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  absl::Status allReduce(std::span<std::byte> values, DType type, ReduceKind kind) override;
  absl::Status reduceScatter(std::span<const std::byte> all, std::span<std::byte> mine, DType type,
                             ReduceKind kind) override;

protected:
  /// `everyone`: the exchange over all ranks, in rank order.
  explicit GroupCommunicator(std::shared_ptr<Exchange> everyone) : everyone(std::move(everyone)) {}

  /// The ranks of a group that this one may have an exchange over; InvalidArgument when they are none.
  absl::StatusOr<std::vector<int>> checkMembers(std::span<const int64_t> ranks) const;
  /// The rank that this one may have a line to; InvalidArgument when there is none.
  absl::StatusOr<int> checkPeer(int64_t peer) const;

private:
  CollectiveCall call(CollectiveOp operation, size_t counted) const;
  /// Begins a call in which rank r reads piece r of every operand.
  absl::Status beginReading(const CollectiveCall &made, std::span<const Piece> pieces, const void *operand,
                            void *result);

  std::shared_ptr<Exchange> everyone;
  std::vector<std::byte> staging; ///< for an exchange that packs; keeps its largest size
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_GROUPCOMMUNICATOR_H
