//===- SocketWatch.h - The processes of a job watch each other ------------===//
//
// Each process keeps TCP connections to a few others (PeerTopology.h), apart from whatever moves the data. A
// connection that ends without a goodbye is a process that died; one whose other host acknowledges nothing is
// a host that is gone; a wait that goes on past its limit is a rank that does not come, found by asking
// everyone what they are doing. Each of these news floods over all connections, so within a moment every
// process knows WHICH rank is lost, whichever it was waiting for.
//
// A thread of the watch's own sleeps until a message or a second has come, passes news on, and answers
// questions while the one that trains computes.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_SOCKETWATCH_H
#define WEFT_RUNTIME_COMM_SOCKETWATCH_H

#include "runtime/comm/PeerSocket.h"
#include "runtime/comm/PeerWatch.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace weft {

class SocketWatch final : public PeerWatch {
public:
  /// How long things may take once the job has failed (seconds).
  struct Patience {
    double notice = 0.4; ///< until this rank's own thread comes to a wait
    double end = 10;     ///< until it has reported
    double reports = 10; ///< until all others have, too
  };
  /// What the watch's thread does when the rank's own thread is not there to do it: it computes, or is stuck.
  struct StandIn {
    std::function<void(const absl::Status &failure)> report;
    /// Ends the process; called once all others have reported, or their time is over.
    std::function<void(const absl::Status &failure)> end;
  };

  /// Listens for the other ranks. Unavailable when the system refuses.
  static absl::StatusOr<std::unique_ptr<SocketWatch>> open(int rank, int ranks);
  /// Where this rank listens, which all ranks must know of each other.
  const PeerEndpoint &endpoint() const;
  /// Links up with some of the others; `endpoints` are those of all ranks, in order. Returns when all links
  /// stand. Unavailable, naming the rank, when one of them does not within `seconds`.
  absl::Status connect(std::span<const PeerEndpoint> endpoints, double seconds);
  /// Says goodbye: whoever waits for this rank from now on waits in vain, but it is not lost.
  ~SocketWatch() override;

  void setStandIn(StandIn standIn, Patience patience);
  /// This rank has reported why the job failed: returns when all others have, have left or are lost, or when
  /// their time is over. A launcher ends a job with the first process that fails, within a second or two: so
  /// none ends before all have said what they know.
  void awaitReports();

  void setLimits(const WaitLimits &limits) override;
  void enter(Phase phase, int64_t step) override;
  void begin(const CollectiveCall &call, uint64_t number, std::span<const int> members) override;
  void end() override;
  absl::Status check(const PeerWait &wait) override;
  void giveUp(const absl::Status &cause) override;

private:
  class Impl;
  explicit SocketWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_SOCKETWATCH_H
