//===- Timeline.cpp - When each action of a schedule starts ---------------===//
//
// Each rank goes on until something that it needs has not happened; whoever makes that happen wakes it.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Timeline.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <optional>

namespace weft::schedules {
namespace {

constexpr double kNever = -1;

/// What another stage or an earlier action must have given.
struct Need {
  int stage;
  bool isForward; ///< else the cotangent
  int microbatch;
};

class Simulation {
public:
  Simulation(const PipelineSchedule &schedule, const ActionTimes &times)
      : schedule(schedule), times(times), ends(2 * size_t(schedule.stages()) * schedule.microbatches, kNever),
        next(schedule.ranks, 0), clock(schedule.ranks, 0), waiting(schedule.ranks) {
    for (ActionKind kind : allActionKinds)
      durations[static_cast<int>(kind)] = times.of(kind, schedule.chunks);
  }

  absl::StatusOr<Timeline> run() {
    timeline.start.resize(schedule.ranks);
    for (int rank = schedule.ranks - 1; rank >= 0; --rank) {
      timeline.start[rank].reserve(schedule.actions[rank].size());
      runnable.push_back(rank);
    }
    while (!runnable.empty()) {
      int rank = runnable.back();
      runnable.pop_back();
      advance(rank);
    }
    for (int rank = 0; rank < schedule.ranks; ++rank)
      if (waiting[rank])
        return stuck(rank);
    measure();
    return std::move(timeline);
  }

private:
  size_t slot(const Need &need) const {
    return 2 * (size_t(need.stage) * schedule.microbatches + need.microbatch) + need.isForward;
  }

  /// Sets `ready` to when the need is met on `rank`; false while nobody has met it.
  bool meets(const Need &need, int rank, double &ready) const {
    double end = ends[slot(need)];
    if (end == kNever)
      return false;
    ready = std::max(ready, end + (schedule.rankOf(need.stage) == rank ? 0 : times.transfer));
    return true;
  }

  /// The first need of an action that is not met; else its earliest start in `ready`.
  std::optional<Need> unmet(const Action &action, int rank, double &ready) const {
    const int stage = action.stage, microbatch = action.microbatch;
    if (action.kind == ActionKind::Forward) {
      Need before{stage - 1, true, microbatch};
      return stage == 0 || meets(before, rank, ready) ? std::nullopt : std::optional(before);
    }
    Need own{stage, action.kind != ActionKind::BackwardWeight, microbatch};
    if (!meets(own, rank, ready))
      return own;
    Need after{stage + 1, false, microbatch};
    bool hasAfter = givesCotangent(action.kind) && stage + 1 < schedule.stages();
    return !hasAfter || meets(after, rank, ready) ? std::nullopt : std::optional(after);
  }

  void advance(int rank) {
    const std::vector<Action> &list = schedule.actions[rank];
    waiting[rank].reset();
    for (; next[rank] < list.size(); ++next[rank]) {
      const Action &action = list[next[rank]];
      double start = clock[rank];
      waiting[rank] = unmet(action, rank, start);
      if (waiting[rank])
        return;
      timeline.start[rank].push_back(start);
      clock[rank] = start + durations[static_cast<int>(action.kind)];
      if (action.kind == ActionKind::BackwardWeight)
        continue;
      bool isForward = action.kind == ActionKind::Forward;
      Need met{action.stage, isForward, action.microbatch};
      ends[slot(met)] = clock[rank];
      wake(action.stage + (isForward ? 1 : -1), met);
    }
  }

  /// The rank of a neighboring stage, when it waits for just that.
  void wake(int stage, const Need &met) {
    if (stage < 0 || stage >= schedule.stages())
      return;
    int rank = schedule.rankOf(stage);
    if (waiting[rank] && slot(*waiting[rank]) == slot(met)) {
      waiting[rank].reset();
      runnable.push_back(rank);
    }
  }

  /// Follows who waits for whom until a rank comes twice: that is the circle.
  absl::Status stuck(int rank) const {
    std::vector<int> chain;
    while (std::find(chain.begin(), chain.end(), rank) == chain.end()) {
      chain.push_back(rank);
      int giver = schedule.rankOf(waiting[rank]->stage);
      if (!isAhead(giver, *waiting[rank]))
        return absl::FailedPreconditionError(
            absl::StrCat("schedule: ", describe(rank), ", which no action of rank ", giver,
                         " gives any more. Add it there, or move it before what waits for it"));
      rank = giver;
    }
    chain.erase(chain.begin(), std::find(chain.begin(), chain.end(), rank));
    std::string circle =
        absl::StrJoin(chain, ", ", [&](std::string *out, int each) { absl::StrAppend(out, describe(each)); });
    const char *who = chain.size() == 1 ? "it cannot" : chain.size() == 2 ? "neither can" : "none can";
    return absl::FailedPreconditionError(absl::StrCat("schedule: ", circle, ": ", who, " go on"));
  }

  /// Whether the rank still has an action that would meet the need.
  bool isAhead(int rank, const Need &need) const {
    const std::vector<Action> &list = schedule.actions[rank];
    return std::any_of(list.begin() + next[rank], list.end(), [&](const Action &action) {
      bool gives = need.isForward ? action.kind == ActionKind::Forward : givesCotangent(action.kind);
      return gives && action.stage == need.stage && action.microbatch == need.microbatch;
    });
  }

  std::string describe(int rank) const {
    const Need &need = *waiting[rank];
    int giver = schedule.rankOf(need.stage);
    return absl::StrCat("rank ", rank, " waits for ", need.stage, need.isForward ? "F" : "B", need.microbatch,
                        giver == rank ? "" : absl::StrCat(" from rank ", giver), " before its ",
                        toString(schedule.actions[rank][next[rank]]), " (action ", next[rank] + 1, ")");
  }

  void measure() {
    double last = 0, first = 0;
    bool isFirst = true;
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      double busy = 0;
      for (const Action &action : schedule.actions[rank])
        busy += durations[static_cast<int>(action.kind)];
      double begin = timeline.start[rank].empty() ? clock[rank] : timeline.start[rank].front();
      timeline.busy.push_back(busy);
      timeline.spans.push_back(clock[rank] - begin);
      first = isFirst ? begin : std::min(first, begin);
      last = std::max(last, clock[rank]);
      isFirst = false;
    }
    timeline.makespan = last - first;
  }

  const PipelineSchedule &schedule;
  const ActionTimes &times;
  double durations[4] = {};
  std::vector<double> ends; ///< of forwards and cotangents, by stage and microbatch
  std::vector<size_t> next; ///< of each rank, the index of its next action
  std::vector<double> clock;
  std::vector<std::optional<Need>> waiting;
  std::vector<int> runnable;
  Timeline timeline;
};

} // namespace

double Timeline::span() const { return spans.empty() ? 0 : *std::max_element(spans.begin(), spans.end()); }

double Timeline::bubble() const {
  return span() - (busy.empty() ? 0 : *std::max_element(busy.begin(), busy.end()));
}

absl::StatusOr<Timeline> simulate(const PipelineSchedule &schedule, const ActionTimes &times) {
  return Simulation(schedule, times).run();
}

} // namespace weft::schedules
