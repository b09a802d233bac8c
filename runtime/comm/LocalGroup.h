//===- LocalGroup.h - Where the threads of a local group meet -------------===//
//
// The shared state behind local communicators and exchanges: one lock, and a channel for each set of ranks
// that meets. A call is open until all members of its channel have joined it, and only then can it fail: by a
// member that differs, that has left, or that waits, directly or through others, for this very member in
// another channel, or that does not come within the limit of the phase. Once all have joined, the call runs
// to its end, whatever happens to the group: that is why peers' memory may be read. Only a member that
// freezes inside the call ends it for the others, whose memory must then stay. Transfers from rank to rank
// are on lines (LocalLine.h): a rank waits there as it does in a channel. A rank that waits gives back its
// place among those that compute, and takes one again once it holds no lock. Internal to runtime/comm.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_LOCALGROUP_H
#define WEFT_RUNTIME_COMM_LOCALGROUP_H

#include "kernels/common/ComputePlace.h"
#include "runtime/comm/LocalLine.h"
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

  /// The line from one rank to another.
  LocalLine &line(int from, int to);
  /// This end of its next transfer; see Line. The memory of the other end is null.
  absl::Status begin(LocalLine &line, LineEnd end, const CollectiveCall &call, const void *from, void *to);
  absl::Status finish(LocalLine &line, LineEnd end);

  void setLimits(int rank, const WaitLimits &limits);
  void enter(int rank, Phase phase, int64_t step);
  void leave(int rank);
  void abort(int rank, const absl::Status &cause);
  absl::Status keptFailure(int rank) const;
  Traffic traffic(int rank) const;

private:
  struct RankState {
    const LocalChannel *waitsIn = nullptr; ///< the channel where members are missing
    const LocalLine *waitsOn = nullptr;    ///< the line of a transfer whose other end has not begun
    bool inCall = false;
    bool hasLeft = false;
    WaitLimits limits;
    RankActivity activity;
    absl::Status kept; ///< the first failure of an exchange or line
    Traffic traffic;

    bool waits() const { return waitsIn != nullptr || waitsOn != nullptr; }
  };

  absl::Status admission(int rank, CollectiveOp operation) const;
  absl::Status over(int rank);
  absl::Status failed(std::unique_lock<std::mutex> &lock, int rank, const absl::Status &status, bool isKept);
  void settle(std::unique_lock<std::mutex> &lock, int rank);

  absl::Status join(std::unique_lock<std::mutex> &lock, LocalChannel &channel, size_t member);
  void open(LocalChannel &channel);
  void pass(LocalChannel &channel);
  absl::Status difference(const LocalChannel &channel) const;
  int lostMember(const LocalChannel &channel) const;
  absl::Status join(std::unique_lock<std::mutex> &lock, LocalLine &line, LineEnd end,
                    const CollectiveCall &call, const void *from, void *to);
  int lostEnd(const LocalLine &line) const;
  absl::Status awaitPeer(std::unique_lock<std::mutex> &lock, LocalLine &line, LineEnd end);

  /// Waits for `isOver`, in the call that the rank is in; false when the limit of its phase came before.
  template <typename Condition>
  bool waitInTime(std::unique_lock<std::mutex> &lock, std::condition_variable &changed, int rank,
                  const Condition &isOver) {
    if (isOver())
      return true;
    ComputePlace::giveBackOfThisThread();
    const RankState &state = states[static_cast<size_t>(rank)];
    const double left = state.limits.of(state.activity.phase()) - state.activity.seconds();
    constexpr double forever = 1e9; // more than any limit, and a clock can be asked for it
    if (left < forever)
      return changed.wait_for(lock, std::chrono::duration<double>(left), isOver);
    changed.wait(lock, isOver);
    return true;
  }
  /// Waits for another rank that copies: it has begun, so it comes to its end.
  template <typename Condition>
  static void awaitCopy(std::unique_lock<std::mutex> &lock, LocalLine &line, const Condition &isOver) {
    if (!isOver())
      ComputePlace::giveBackOfThisThread();
    line.changed.wait(lock, isOver);
  }
  void wakeAll();
  void fail(absl::Status status);
  void failCycle(int rank);
  void lose(std::vector<LostRank> ranks);
  void loseLate(int rank);
  absl::Status refusal(int rank, int left);
  template <typename See> bool anyAwaited(int rank, const See &see) const;
  bool findCycle(int rank, int target);
  std::string describeCycle() const;

  mutable std::mutex mutex;
  std::vector<RankState> states;
  std::map<std::vector<int>, std::unique_ptr<LocalChannel>> channels;
  std::map<std::pair<int, int>, std::unique_ptr<LocalLine>> lines; ///< by sender and receiver
  absl::Status failure;                                            ///< of the whole group
  std::vector<LostRank> lost;                                      ///< why it failed, if it is that
  std::vector<bool> visited;                                       ///< by findCycle
  std::vector<int> path; ///< found by findCycle: each waits for the next, the last for the first
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_LOCALGROUP_H
