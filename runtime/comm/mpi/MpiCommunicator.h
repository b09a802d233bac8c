//===- MpiCommunicator.h - Ranks that are processes -----------------------===//
//
// The ranks are those of MPI_COMM_WORLD. MPI transports and we add: a reduction is an all-to-all of its
// pieces, a fold in group rank order by the code that threads use, and a gather, so its bits are those of a
// local group. Calls are non-blocking underneath; a rank that waits tests and sleeps.
//
// Ranks whose calls differ are told both sides, as in a local group, unless checks are off. Ranks that wait
// for each other in different groups are not found out: a watch that stops a wait after some time has the
// ranks and the call.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_MPI_MPICOMMUNICATOR_H
#define WEFT_RUNTIME_COMM_MPI_MPICOMMUNICATOR_H

#include "runtime/comm/GroupCommunicator.h"
#include "runtime/comm/PeerWatch.h"

#include <memory>
#include <vector>

namespace weft {

struct MpiOptions {
  /// A longer message goes in pieces of this size: MPI counts in int.
  int64_t chunkBytes = int64_t{1} << 30;
  /// Whether members tell each other what they call, one small message per peer and call.
  bool checksCalls = true;
};

class MpiGroup;

class MpiCommunicator final : public GroupCommunicator {
public:
  /// Starts MPI in this process, unless it runs, and joins the others: all processes call it, in the same
  /// order. Under no launcher there is one rank.
  static absl::StatusOr<std::unique_ptr<MpiCommunicator>> create(const MpiOptions &options = {});
  /// Over the processes of an MPI communicator.
  static absl::StatusOr<std::unique_ptr<MpiCommunicator>> create(std::shared_ptr<MpiGroup> group);
  ~MpiCommunicator() override;

  /// See MpiGroup::setWatch(). Without one there are no limits, and a rank that dies is waited for.
  void setWatch(PeerWatch *watch);
  void setLimits(const WaitLimits &limits) override;
  void enter(Phase phase, int64_t step) override;
  void abort(absl::Status cause) override;
  absl::StatusOr<std::shared_ptr<Exchange>> exchange(std::span<const int64_t> ranks) override;
  absl::StatusOr<std::shared_ptr<Line>> line(int64_t peer) override;
  absl::Status exchangeStatus() const override;
  Traffic traffic() const override;

  /// Why the group ended, as this rank did or heard; OK while it has not.
  absl::Status failure() const;
  /// This rank leaves, and waits for the others to leave: half a minute, or a second once the group has
  /// failed. The ranks that have not left by then.
  std::vector<int> leave();

private:
  MpiCommunicator(std::shared_ptr<MpiGroup> group, std::shared_ptr<Exchange> everyone);

  std::shared_ptr<MpiGroup> group;
  bool hasLeft = false;
};

/// Ends MPI in this process, after its communicators. Not after a rank was lost, for which MPI would wait.
void endMpi();

} // namespace weft

#endif // WEFT_RUNTIME_COMM_MPI_MPICOMMUNICATOR_H
