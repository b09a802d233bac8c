//===- PeerWatch.h - Who looks after a rank that waits --------------------===//
//
// Between processes nothing but silence tells that a peer is gone. A rank tells its watch which call it is
// in, and asks it again and again, as long as it waits there, whether to go on waiting. The answer is a
// failure once a rank is lost anywhere in the job, or when the wait has passed the limit of the phase.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_PEERWATCH_H
#define WEFT_RUNTIME_COMM_PEERWATCH_H

#include "runtime/comm/RankActivity.h"

#include "absl/status/status.h"

#include <span>
#include <vector>

namespace weft {

/// A rank's wait in one call; valid during PeerWatch::check().
class PeerWait {
public:
  virtual ~PeerWait() = default;
  /// The ranks of whom something is still to come.
  virtual std::vector<int> missing() const = 0;
};

/// Of one rank, used by the thread that trains. Nothing allocates unless it fails.
class PeerWatch {
public:
  virtual ~PeerWatch() = default;

  virtual void setLimits(const WaitLimits &limits) = 0;
  /// The rank begins a phase; see RankActivity.
  virtual void enter(Phase phase, int64_t step) = 0;
  /// The rank is in a call, from here to end(). `members` are the ranks of its group, which must outlive the
  /// watch.
  virtual void begin(const CollectiveCall &call, uint64_t number, std::span<const int> members) = 0;
  virtual void end() = 0;

  /// OK, or why the call cannot end. Then the job has failed, on every rank: Unavailable names who is lost,
  /// and what this rank was waiting in for how long; or it is what another rank gave up with
  /// (isOfAnotherRank()). To be asked from the first pause of a wait on, a few times a millisecond at most.
  virtual absl::Status check(const PeerWait &wait) = 0;
  /// Fails the job on every other rank with "rank R gave up: ..."; see Communicator::abort().
  virtual void giveUp(const absl::Status &cause) = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_PEERWATCH_H
