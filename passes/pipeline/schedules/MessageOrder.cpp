#include "passes/pipeline/schedules/MessageOrder.h"

#include <algorithm>
#include <deque>
#include <map>

namespace weft::schedules {
namespace {

class MessageOrder {
public:
  MessageOrder(const PipelineSchedule &schedule, const ActionTimes &times, const StageMessages &messages,
               const Timeline &timeline)
      : schedule(schedule), times(times), messages(messages), timeline(timeline), before(schedule.ranks),
        behind(schedule.ranks) {
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      before[rank].resize(schedule.actions[rank].size() + 1);
      behind[rank].resize(schedule.actions[rank].size());
      for (size_t index = 0; index < schedule.actions[rank].size(); ++index)
        placeOf[schedule.actions[rank][index]] = {rank, index};
    }
  }

  std::vector<std::vector<PipelineEvent>> run() {
    for (int rank = 0; rank < schedule.ranks; ++rank)
      for (size_t index = 0; index < schedule.actions[rank].size(); ++index)
        addMessage(rank, index);
    std::vector<std::vector<PipelineEvent>> lists(schedule.ranks);
    for (int rank = 0; rank < schedule.ranks; ++rank)
      lists[rank] = listOf(rank);
    return lists;
  }

private:
  /// What comes from a rank, for an action; ordered as it is sent.
  struct Arrival {
    double sent;
    Action needs;
    int from;
    auto operator<=>(const Arrival &) const = default;
  };
  /// Events at one place of a list: what never blocks comes first.
  struct Gap {
    std::vector<Arrival> begins;
    std::vector<PipelineEvent> waits;
    std::vector<Arrival> needs;
  };
  struct Place {
    int rank;
    size_t index;
  };

  /// The action that waits for what this one gives to another rank; none if there is none.
  const Place *receiverOf(const Action &action) const {
    const bool isForward = action.kind == ActionKind::Forward;
    if (!isForward && !givesCotangent(action.kind))
      return nullptr;
    const int stage = action.stage + (isForward ? 1 : -1);
    if (stage < 0 || stage >= schedule.stages() || schedule.rankOf(stage) == schedule.rankOf(action.stage) ||
        !(isForward ? messages.toNext : messages.toPrevious)[action.stage])
      return nullptr;
    for (ActionKind kind : allActionKinds)
      if ((kind == ActionKind::Forward) == isForward && kind != ActionKind::BackwardWeight)
        if (auto found = placeOf.find({stage, kind, action.microbatch}); found != placeOf.end())
          return &found->second;
    return nullptr;
  }

  void addMessage(int rank, size_t index) {
    const Action &action = schedule.actions[rank][index];
    const Place *to = receiverOf(action);
    if (!to)
      return;
    const double sent = timeline.start[rank][index] + times.of(action.kind, schedule.chunks);
    const double arrived = sent + times.transfer;
    behind[rank][index].push_back({PipelineEventKind::Send, action});
    before[rank][firstFrom(rank, arrived, index + 1)].waits.push_back({PipelineEventKind::SendWait, action});
    const Action &needs = schedule.actions[to->rank][to->index];
    const std::vector<double> &starts = timeline.start[to->rank];
    auto next =
        std::upper_bound(starts.begin(), starts.begin() + static_cast<ptrdiff_t>(to->index) + 1, sent);
    const size_t at = next == starts.begin() ? 0 : static_cast<size_t>(next - starts.begin()) - 1;
    before[to->rank][at].begins.push_back({sent, needs, rank});
    before[to->rank][to->index].needs.push_back({sent, needs, rank});
  }

  /// The first action of a rank, from `index` on, that starts at `time` or later.
  size_t firstFrom(int rank, double time, size_t index) const {
    const std::vector<double> &starts = timeline.start[rank];
    return static_cast<size_t>(
        std::lower_bound(starts.begin() + static_cast<ptrdiff_t>(index), starts.end(), time) -
        starts.begin());
  }

  std::vector<PipelineEvent> listOf(int rank) {
    std::vector<PipelineEvent> list;
    std::vector<std::deque<Action>> begun(schedule.ranks); // by sender, not waited for
    for (size_t index = 0; index < before[rank].size(); ++index) {
      Gap &gap = before[rank][index];
      std::sort(gap.begins.begin(), gap.begins.end());
      for (const Arrival &arrival : gap.begins) {
        list.push_back({PipelineEventKind::Receive, arrival.needs});
        begun[arrival.from].push_back(arrival.needs);
      }
      list.insert(list.end(), gap.waits.begin(), gap.waits.end());
      for (const Arrival &arrival : gap.needs)
        waitFor(arrival, begun[arrival.from], list);
      if (index == behind[rank].size())
        break;
      list.push_back({PipelineEventKind::Compute, schedule.actions[rank][index]});
      list.insert(list.end(), behind[rank][index].begin(), behind[rank][index].end());
    }
    return list;
  }

  /// What a rank sends arrives in order, and is waited for in that order: with what is needed, all that was
  /// sent before it.
  static void waitFor(const Arrival &arrival, std::deque<Action> &begun, std::vector<PipelineEvent> &list) {
    if (std::find(begun.begin(), begun.end(), arrival.needs) == begun.end())
      return;
    for (bool isThere = false; !isThere; begun.pop_front()) {
      isThere = begun.front() == arrival.needs;
      list.push_back({PipelineEventKind::ReceiveWait, begun.front()});
    }
  }

  const PipelineSchedule &schedule;
  const ActionTimes &times;
  const StageMessages &messages;
  const Timeline &timeline;
  std::map<Action, Place> placeOf;
  std::vector<std::vector<Gap>> before;                        ///< by rank, before each action and at the end
  std::vector<std::vector<std::vector<PipelineEvent>>> behind; ///< by rank, behind each action
};

} // namespace

absl::StatusOr<std::vector<std::vector<PipelineEvent>>>
orderMessages(const PipelineSchedule &schedule, const ActionTimes &times, const StageMessages &messages) {
  absl::StatusOr<Timeline> timeline = simulate(schedule, times);
  if (!timeline.ok())
    return timeline.status();
  return MessageOrder(schedule, times, messages, *timeline).run();
}

} // namespace weft::schedules
