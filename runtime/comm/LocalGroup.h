//===- LocalGroup.h - Where the threads of a local group meet -------------===//
//
// The shared state behind local communicators and exchanges: one lock, and a channel for each set of ranks
// that meets. A call is open until all members of its channel have joined it, and only then can it fail: by a
// member that differs, that has left, or that waits, directly or through others, for this very member in
// another channel, or that does not come within the limit of the phase. Once all have joined, the call runs
// to its end, whatever happens to the group: that is why peers' memory may be read. Only a member that
// freezes inside the call ends it for the others, whose memory must then stay. Internal to runtime/comm.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_LOCALGROUP_H
#define WEFT_RUNTIME_COMM_LOCALGROUP_H

#include "runtime/comm/RankActivity.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// A set of ranks that meets, in the order that gives each its place.
struct LocalChannel {
  explicit LocalChannel(std::vector<int> ranks);

  const std::vector<int> members;
  // Of the call at hand, per member. The pointers are read without the lock while all are in the call.
  std::vector<CollectiveCall> calls;
  std::vector<const void *> operands;
  std::vector<void *> results;
  std::vector<bool> joined; ///< the call, or the next meeting point in it
  size_t arrived = 0;       ///< members at the next meeting point
  uint64_t meetings = 0;    ///< meeting points passed
  uint64_t opened = 0;      ///< calls that all have joined
  bool isBroken = false;    ///< a member froze inside a call
  std::condition_variable changed;
};

class LocalGroup {
public:
  explicit LocalGroup(int ranks);

  int size() const { return static_cast<int>(states.size()); }
  /// The channel of these ranks, which must be ranks of the group, each once.
  LocalChannel &channel(const std::vector<int> &ranks);

  /// One call of member `member`; see Exchange. `isKept`: a failure stays, and fails further kept calls.
  absl::Status begin(LocalChannel &channel, size_t member, const CollectiveCall &call, const void *operand,
                     void *result, bool isKept);
  void meet(LocalChannel &channel, size_t member);
  void end(LocalChannel &channel, size_t member);

  void setLimits(int rank, const WaitLimits &limits);
  void enter(int rank, Phase phase, int64_t step);
  void leave(int rank);
  void abort(int rank, const absl::Status &cause);
  absl::Status keptFailure(int rank) const;
  Traffic traffic(int rank) const;

private:
  struct RankState {
    const LocalChannel *waitsIn = nullptr; ///< the channel of a call that not all have joined
    size_t member = 0;                     ///< the rank's place there
    bool inCall = false;
    bool hasLeft = false;
    WaitLimits limits;
    RankActivity activity;
    absl::Status kept; ///< the first failure of an exchange
    Traffic traffic;
  };

  absl::Status join(std::unique_lock<std::mutex> &lock, LocalChannel &channel, size_t member);
  void open(LocalChannel &channel);
  void pass(LocalChannel &channel);
  template <typename Condition>
  bool waitInTime(std::unique_lock<std::mutex> &lock, LocalChannel &channel, int rank,
                  const Condition &isOver);
  void fail(absl::Status status);
  void lose(std::vector<LostRank> ranks);
  void loseLate(const LocalChannel &channel, int rank);
  absl::Status refusal(const LocalChannel &channel, size_t member);
  absl::Status difference(const LocalChannel &channel) const;
  int lostMember(const LocalChannel &channel) const;
  bool findCycle(int rank, int target);
  std::string describeCycle() const;
  std::string describe(const LocalChannel &channel, size_t member) const;

  mutable std::mutex mutex;
  std::vector<RankState> states;
  std::map<std::vector<int>, std::unique_ptr<LocalChannel>> channels;
  absl::Status failure;       ///< of the whole group
  std::vector<LostRank> lost; ///< why it failed, if it is that
  std::vector<bool> visited;  ///< by findCycle
  std::vector<int> path;      ///< found by findCycle: each waits for the next, the last for the first
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_LOCALGROUP_H
