//===- Interleaved.cpp - 1F1B over several chunks a rank ------------------===//
//
// A group of microbatches passes a rank's first chunk, then its second, and so on; backwards go the other way
// round. Where the group size does not divide the microbatches, groups share what is left, so none is smaller
// than the ranks: a smaller one would be back at the first rank too early.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Generators.h"

#include <algorithm>

namespace weft::schedules {
namespace {

struct Turn {
  int chunk, microbatch;
};

struct Order {
  std::vector<Turn> forwards, backwards;
  int largestGroup = 0;
};

Order orderOf(int chunks, int microbatches, int groupSize) {
  Order order;
  const int groups = std::max(1, microbatches / groupSize);
  int begin = 0;
  for (int group = 0; group < groups; ++group) {
    int size = microbatches / groups + (group < microbatches % groups);
    for (int turn = 0; turn < chunks * size; ++turn) {
      order.forwards.push_back({turn / size, begin + turn % size});
      order.backwards.push_back({chunks - 1 - turn / size, begin + turn % size});
    }
    begin += size;
    order.largestGroup = std::max(order.largestGroup, size);
  }
  return order;
}

} // namespace

PipelineSchedule interleaved(const ScheduleShape &shape) {
  PipelineSchedule schedule =
      makeSchedule("interleaved", shape.ranks, shape.chunks, shape.microbatches, StageLayout::Loop);
  const Order order =
      orderOf(shape.chunks, shape.microbatches, shape.groupSize == 0 ? shape.ranks : shape.groupSize);
  const int turns = shape.chunks * shape.microbatches;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    std::vector<Action> &list = schedule.actions[rank];
    const auto add = [&](ActionKind kind, const Turn &turn) {
      list.push_back({schedule.stageOf(rank, turn.chunk), kind, turn.microbatch});
    };
    // With one chunk this is 1F1B, whose ranks need no second round trip.
    const int ahead = (shape.ranks - 1 - rank) * (shape.chunks == 1 ? 1 : 2);
    const int warmUp = std::min(turns, ahead + (shape.chunks - 1) * order.largestGroup);
    for (int turn = 0; turn < warmUp; ++turn)
      add(ActionKind::Forward, order.forwards[turn]);
    for (int turn = 0; turn < turns; ++turn) {
      if (warmUp + turn < turns)
        add(ActionKind::Forward, order.forwards[warmUp + turn]);
      add(ActionKind::Backward, order.backwards[turn]);
    }
  }
  return schedule;
}

} // namespace weft::schedules
