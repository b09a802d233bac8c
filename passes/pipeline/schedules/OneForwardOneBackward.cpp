//===- OneForwardOneBackward.cpp - GPipe and 1F1B -------------------------===//
//
// One stage a rank, whole backwards. Both run the same forwards and backwards; they differ in how many
// forwards come before the first backward: all, or as many as are needed to keep the ranks behind busy.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Generators.h"

#include <algorithm>

namespace weft::schedules {
namespace {

/// `warmUp` forwards, then a forward and a backward in turn, then what is left.
std::vector<Action> inTurn(int stage, int microbatches, int warmUp) {
  std::vector<Action> list;
  int forwards = 0;
  for (; forwards < std::min(warmUp, microbatches); ++forwards)
    list.push_back({stage, ActionKind::Forward, forwards});
  for (int backward = 0; backward < microbatches; ++backward) {
    if (forwards < microbatches)
      list.push_back({stage, ActionKind::Forward, forwards++});
    list.push_back({stage, ActionKind::Backward, backward});
  }
  return list;
}

} // namespace

PipelineSchedule gpipe(const ScheduleShape &shape) {
  PipelineSchedule schedule = makeSchedule("gpipe", shape.ranks, 1, shape.microbatches, StageLayout::Loop);
  for (int rank = 0; rank < shape.ranks; ++rank)
    schedule.actions[rank] = inTurn(rank, shape.microbatches, shape.microbatches);
  return schedule;
}

PipelineSchedule oneForwardOneBackward(const ScheduleShape &shape) {
  PipelineSchedule schedule = makeSchedule("1f1b", shape.ranks, 1, shape.microbatches, StageLayout::Loop);
  for (int rank = 0; rank < shape.ranks; ++rank)
    schedule.actions[rank] = inTurn(rank, shape.microbatches, shape.ranks - 1 - rank);
  return schedule;
}

} // namespace weft::schedules
