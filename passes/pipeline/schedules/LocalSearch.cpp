//===- LocalSearch.cpp - Small changes that shorten a schedule ------------===//
//
// A change is judged by a whole simulation: linear, and fast enough for some thousand of them.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/LocalSearch.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft::schedules {
namespace {

constexpr int kFarthest = 8; ///< places that an action moves at once

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
class Random {
public:
  /// In [0, count).
  size_t below(size_t count) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % count;
  }

private:
  uint64_t state = 1;
};

/// Whether `earlier` must stay before `later` on their rank.
bool mustPrecede(const Action &earlier, const Action &later) {
  if (earlier.stage != later.stage)
    return false;
  return earlier.kind == later.kind || (earlier.microbatch == later.microbatch && earlier.kind < later.kind);
}

/// Moves the action at `from` to `to`, by turns with each neighbor; false, with the list as it was, where one
/// of them may not be passed.
bool move(std::vector<Action> &list, size_t from, size_t to) {
  for (size_t at = from; at < to; ++at)
    if (mustPrecede(list[from], list[at + 1]))
      return false;
  for (size_t at = to; at < from; ++at)
    if (mustPrecede(list[at], list[from]))
      return false;
  if (from < to)
    std::rotate(list.begin() + from, list.begin() + from + 1, list.begin() + to + 1);
  else
    std::rotate(list.begin() + to, list.begin() + from, list.begin() + from + 1);
  return true;
}

int mostHeldIn(const std::vector<Action> &list) {
  int held = 0, most = 0;
  for (const Action &action : list)
    most = std::max(most, held += (action.kind == ActionKind::Forward) - releases(action.kind));
  return most;
}

/// What is to shrink: the longest span, then all of them.
std::pair<double, double> cost(const Timeline &timeline) {
  return {timeline.span(), std::accumulate(timeline.spans.begin(), timeline.spans.end(), 0.0)};
}

} // namespace

PipelineSchedule improve(PipelineSchedule schedule, const ActionTimes &times, int heldLimit, double goal,
                         int trials) {
  absl::StatusOr<Timeline> timeline = simulate(schedule, times);
  if (!timeline.ok())
    return schedule;
  Random random;
  std::pair<double, double> best = cost(*timeline);
  for (int trial = 0; trial < trials && best.first > goal; ++trial) {
    std::vector<Action> &list = schedule.actions[random.below(schedule.ranks)];
    const size_t from = random.below(list.size()), step = 1 + random.below(kFarthest);
    const bool isForth = random.below(2) == 0;
    const size_t to = isForth ? std::min(from + step, list.size() - 1) : from - std::min(from, step);
    if (from == to || !move(list, from, to))
      continue;
    absl::StatusOr<Timeline> changed =
        mostHeldIn(list) > heldLimit ? absl::ResourceExhaustedError("") : simulate(schedule, times);
    if (changed.ok() && cost(*changed) <= best)
      best = cost(*changed);
    else
      move(list, to, from);
  }
  return schedule;
}

} // namespace weft::schedules
