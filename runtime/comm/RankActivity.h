//===- RankActivity.h - What a rank is doing, and how long it may wait ----===//
//
// A rank is in a phase of the job, and in a collective or outside of collectives. Whoever waits for it tells
// its peers so, in one form on every backend: the phase, the collective with its place in the program, and
// for how long. Each phase has a limit for one wait, a key of the config. Recording allocates nothing: it
// happens at each collective of a step.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_RANKACTIVITY_H
#define WEFT_RUNTIME_COMM_RANKACTIVITY_H

#include "kernels/collective/Exchange.h"

#include "absl/status/status.h"

#include <array>
#include <chrono>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace weft {

enum class Phase : uint8_t { Start, Step, Save, End };

/// Seconds that a rank waits in one collective before it takes those that have not come for lost.
struct WaitLimits {
  double start = std::numeric_limits<double>::infinity();
  double step = start;
  double save = start;

  double of(Phase phase) const {
    return phase == Phase::Start  ? start
           : phase == Phase::Step ? step
           : phase == Phase::Save ? save
                                  : std::numeric_limits<double>::infinity();
  }
};

/// What one rank is doing. Not thread safe.
class RankActivity {
public:
  using Clock = std::chrono::steady_clock;

  /// `step`: the step at hand, or the one whose state is saved.
  void enter(Phase phase, int64_t step);
  /// The rank is in a call from now on, until end(): call `number` of a group of some of the `ranks` of the
  /// job. `members` must outlive this object.
  void begin(const CollectiveCall &call, uint64_t number, std::span<const int> members, size_t ranks);
  void end();

  Phase phase() const { return currentPhase; }
  bool isInCall() const { return inCall; }
  /// Since the last begin() or end().
  double seconds(Clock::time_point now = Clock::now()) const;

  /// step 12
  std::string describePhase() const;
  /// all_reduce #12 of ...: the call at hand, or the last one.
  std::string describeCall() const;
  /// step 12, in all_reduce #12 of ... for 3.1 s
  std::string describe(Clock::time_point now = Clock::now()) const;

private:
  Phase currentPhase = Phase::Start;
  int64_t step = 0;
  bool inCall = false;
  Clock::time_point since = Clock::now();
  CollectiveCall call; ///< its detail is below
  std::array<char, 320> detail{};
  size_t detailLength = 0;
  uint64_t number = 0; ///< of the call; 0 before the first
  std::span<const int> members;
  size_t ranks = 0;
};

/// The key whose value is the limit of a phase that has one.
std::string_view limitKey(Phase phase);

/// Why a rank that did not come in time is lost: what was waited in, and what is known of the rank. One that
/// is not a member of the call holds up another that is.
std::string describeAbsence(const RankActivity &waiting, double seconds, bool isMember,
                            std::string_view known);

/// A rank that is lost, and why: `died: ...`, `has not come ...`.
struct LostRank {
  int rank = 0;
  std::string reason;
  bool operator==(const LostRank &) const = default;
};

/// Unavailable: who is lost, what `own` rank was doing, and what helps.
absl::Status lossReport(const std::vector<LostRank> &lost, int own, const RankActivity &activity);

} // namespace weft

#endif // WEFT_RUNTIME_COMM_RANKACTIVITY_H
