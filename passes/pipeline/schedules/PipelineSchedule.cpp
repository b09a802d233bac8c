//===- PipelineSchedule.cpp - Who does what, in which order ---------------===//
//
// What follows from the lists alone, without times.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/PipelineSchedule.h"

#include <algorithm>

namespace weft::schedules {

std::string_view name(StageLayout layout) { return layout == StageLayout::Loop ? "loop" : "v"; }

PipelineSchedule makeSchedule(std::string name, int ranks, int chunks, int microbatches, StageLayout layout) {
  PipelineSchedule schedule;
  schedule.name = std::move(name);
  schedule.ranks = ranks;
  schedule.chunks = chunks;
  schedule.microbatches = microbatches;
  schedule.layout = layout;
  schedule.actions.resize(ranks);
  return schedule;
}

int64_t actionCount(const PipelineSchedule &schedule) {
  int64_t count = 0;
  for (const std::vector<Action> &list : schedule.actions)
    count += static_cast<int64_t>(list.size());
  return count;
}

std::vector<int> mostHeld(const PipelineSchedule &schedule) {
  std::vector<int> most;
  for (const std::vector<Action> &list : schedule.actions) {
    int held = 0, highest = 0;
    for (const Action &action : list) {
      held += (action.kind == ActionKind::Forward) - releases(action.kind);
      highest = std::max(highest, held);
    }
    most.push_back(highest);
  }
  return most;
}

PipelineSchedule splitBackwards(PipelineSchedule schedule) {
  for (std::vector<Action> &list : schedule.actions) {
    std::vector<Action> parts;
    for (Action action : list) {
      if (action.kind != ActionKind::Backward) {
        parts.push_back(action);
        continue;
      }
      action.kind = ActionKind::BackwardInput;
      parts.push_back(action);
      action.kind = ActionKind::BackwardWeight;
      parts.push_back(action);
    }
    list = std::move(parts);
  }
  return schedule;
}

} // namespace weft::schedules
