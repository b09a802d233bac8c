//===- ActionExecutor.cpp - Runs a schedule's lists without any check -------===//
//
// Ranks take turns, one action each, until a whole round changes nothing.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-trials/ActionExecutor.h"

#include <deque>
#include <numeric>
#include <set>

namespace weft::trials {
namespace {
using namespace schedules;

struct Stage {
  std::deque<int> forwardInbox, backwardInbox; ///< microbatches whose messages have come
  std::set<int> kept, waitingWeights;          ///< forward done; B done and W not
  std::vector<int> gradients;                  ///< in the order in which they are added up
};

class Run {
public:
  explicit Run(const PipelineSchedule &schedule) : schedule(schedule), stages(schedule.stages()) {}

  Ending end() {
    std::vector<size_t> next(schedule.ranks, 0);
    for (bool isMoving = true; isMoving;) {
      isMoving = false;
      for (int rank = 0; rank < schedule.ranks; ++rank) {
        if (next[rank] == schedule.actions[rank].size())
          continue;
        Step step = take(rank, schedule.actions[rank][next[rank]]);
        if (step == Step::Fails)
          return Ending::Fails;
        next[rank] += step == Step::Done;
        isMoving |= step == Step::Done;
      }
    }
    for (int rank = 0; rank < schedule.ranks; ++rank)
      if (next[rank] < schedule.actions[rank].size())
        return Ending::Hangs;
    return isAllInOrder() ? Ending::Right : Ending::OtherOrder;
  }

private:
  enum class Step { Done, Waits, Fails };

  /// Takes the next message of a queue, which must be that of `microbatch`.
  static Step receive(std::deque<int> &inbox, int microbatch) {
    if (inbox.empty())
      return Step::Waits;
    if (inbox.front() != microbatch)
      return Step::Fails;
    inbox.pop_front();
    return Step::Done;
  }

  Step take(int rank, const Action &action) {
    if (action.stage < 0 || action.stage >= schedule.stages() || schedule.rankOf(action.stage) != rank ||
        action.microbatch < 0 || action.microbatch >= schedule.microbatches)
      return Step::Fails;
    if (action.kind == ActionKind::Forward)
      return forward(action);
    if (givesCotangent(action.kind))
      if (Step step = backward(action); step != Step::Done)
        return step;
    return releases(action.kind) ? weight(action) : Step::Done;
  }

  Step forward(const Action &action) {
    Stage &self = stages[action.stage];
    if (started.count(action))
      return Step::Fails;
    if (action.stage > 0)
      if (Step step = receive(self.forwardInbox, action.microbatch); step != Step::Done)
        return step;
    started.insert(action);
    self.kept.insert(action.microbatch);
    if (action.stage + 1 < schedule.stages())
      stages[action.stage + 1].forwardInbox.push_back(action.microbatch);
    else
      losses.push_back(action.microbatch);
    return Step::Done;
  }

  Step backward(const Action &action) {
    Stage &self = stages[action.stage];
    if (!self.kept.count(action.microbatch))
      return Step::Fails;
    if (action.stage + 1 < schedule.stages())
      if (Step step = receive(self.backwardInbox, action.microbatch); step != Step::Done)
        return step;
    self.kept.erase(action.microbatch);
    self.waitingWeights.insert(action.microbatch);
    if (action.stage > 0)
      stages[action.stage - 1].backwardInbox.push_back(action.microbatch);
    if (action.stage + 1 == schedule.stages())
      head.push_back(action.microbatch);
    return Step::Done;
  }

  Step weight(const Action &action) {
    Stage &self = stages[action.stage];
    if (!self.waitingWeights.erase(action.microbatch))
      return Step::Fails;
    self.gradients.push_back(action.microbatch);
    return Step::Done;
  }

  bool isAllInOrder() const {
    std::vector<int> all(schedule.microbatches);
    std::iota(all.begin(), all.end(), 0);
    for (const Stage &stage : stages)
      if (stage.gradients != all)
        return false;
    return losses == all && head == all;
  }

  const PipelineSchedule &schedule;
  std::vector<Stage> stages;
  std::set<Action> started;
  std::vector<int> losses, head;
};

} // namespace

std::string_view name(Ending ending) {
  switch (ending) {
  case Ending::Right:
    return "right";
  case Ending::Hangs:
    return "hangs";
  case Ending::Fails:
    return "fails";
  case Ending::OtherOrder:
    return "other order";
  }
  return "";
}

Ending execute(const PipelineSchedule &schedule) { return Run(schedule).end(); }

} // namespace weft::trials
