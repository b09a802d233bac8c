//===- ZeroBubble.cpp - ZB-H1 and ZB-H2 -----------------------------------===//
//
// 1F1B with the weight gradient as an action of its own. A rank runs a W when it may hold no more, and at the
// end: so the stage before gets its cotangent as early as can be, and W's fill what would be a bubble.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Generators.h"

#include <algorithm>

namespace weft::schedules {
namespace {

/// `warmUp` forwards, then B and F in turn while no more than `mostHeld` are held.
std::vector<Action> holding(int stage, int microbatches, int warmUp, int mostHeld) {
  std::vector<Action> list;
  int forwards = 0, backwards = 0, weights = 0;
  const auto add = [&](ActionKind kind, int &count) { list.push_back({stage, kind, count++}); };
  while (forwards < std::min(warmUp, microbatches))
    add(ActionKind::Forward, forwards);
  while (weights < microbatches) {
    if (backwards < microbatches)
      add(ActionKind::BackwardInput, backwards);
    if (forwards < microbatches) {
      if (forwards - weights >= mostHeld)
        add(ActionKind::BackwardWeight, weights);
      add(ActionKind::Forward, forwards);
    } else {
      add(ActionKind::BackwardWeight, weights);
    }
  }
  return list;
}

} // namespace

PipelineSchedule zeroBubbleH1(const ScheduleShape &shape) {
  PipelineSchedule schedule = makeSchedule("zb_h1", shape.ranks, 1, shape.microbatches, StageLayout::Loop);
  for (int rank = 0; rank < shape.ranks; ++rank)
    schedule.actions[rank] = holding(rank, shape.microbatches, shape.ranks - rank, shape.ranks);
  return schedule;
}

PipelineSchedule zeroBubbleH2(const ScheduleShape &shape) {
  PipelineSchedule schedule = makeSchedule("zb_h2", shape.ranks, 1, shape.microbatches, StageLayout::Loop);
  for (int rank = 0; rank < shape.ranks; ++rank)
    schedule.actions[rank] =
        holding(rank, shape.microbatches, 2 * (shape.ranks - rank) - 1, 2 * shape.ranks - 1);
  return schedule;
}

} // namespace weft::schedules
