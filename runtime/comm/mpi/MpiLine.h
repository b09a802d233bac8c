//===- MpiLine.h - From one process to another ----------------------------===//
//
// Transfers are messages between two ranks over the communicator of all, begun in their order, so that MPI
// matches the k-th send with the k-th receive. Beside the bytes each end sends the other a header, what it
// calls, which are compared before a transfer is over; without checks the bytes alone are sent, in a way that
// waits for the receiver all the same. Internal to runtime/comm/mpi.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_MPI_MPILINE_H
#define WEFT_RUNTIME_COMM_MPI_MPILINE_H

#include "runtime/comm/mpi/MpiChannel.h"

#include "kernels/collective/Line.h"

namespace weft {

/// This rank's end of the transfers from one rank to another.
class MpiLineEnd {
public:
  MpiLineEnd(int from, int to, int rank, const MpiOptions &options, MPI_Comm communicator)
      : members{from, to}, peer(rank == from ? to : from), sends(rank == from), options(options),
        communicator(communicator) {}

  /// A transfer begins in memory of call.bytes.
  absl::Status begin(MpiGroup &group, const CollectiveCall &call, void *memory);
  /// The first that is under way is over.
  absl::Status finish(MpiGroup &group);
  /// Gives up on all that are under way; under mpiLock(). Whether there were any.
  bool abandon();

private:
  class Wait;
  struct Transfer {
    explicit Transfer(int64_t chunkBytes) : words(chunkBytes), data(chunkBytes) {}
    CallHeader own, theirs;
    MpiRequests words, data;
  };

  absl::Status post(Transfer &transfer, void *memory);
  absl::Status finishFirst(MpiGroup &group);
  absl::Status compare(const Transfer &transfer) const;

  const std::array<int, 2> members; ///< sender and receiver
  const int peer;
  const bool sends;
  const MpiOptions &options; ///< of the group
  MPI_Comm communicator;
  uint64_t begun = 0;
  std::vector<std::unique_ptr<Transfer>> underWay, spare; ///< few, so that taking the first is cheap
};

/// Both directions between this rank and another, which live as long as the group.
struct MpiLineState {
  MpiLineEnd out, in;
};

class MpiLine final : public Line {
public:
  MpiLine(std::shared_ptr<MpiGroup> group, MpiLineState &state) : group(std::move(group)), state(state) {}

  absl::Status send(const CollectiveCall &call, const void *from) override {
    return state.out.begin(*group, call, const_cast<void *>(from));
  }
  absl::Status receive(const CollectiveCall &call, void *to) override {
    return state.in.begin(*group, call, to);
  }
  absl::Status finishSend() override { return state.out.finish(*group); }
  absl::Status finishReceive() override { return state.in.finish(*group); }

private:
  std::shared_ptr<MpiGroup> group;
  MpiLineState &state;
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_MPI_MPILINE_H
