//===- ZeroBubbleV.cpp - ZB-V ---------------------------------------------===//
//
// Two chunks a rank, there and back, so the last stage sits beside the first and backwards begin at once on
// rank 0. The order of F and B is written down; W's are placed where ranks would wait, at most 2p chunks
// held.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Generators.h"
#include "passes/pipeline/schedules/ListScheduling.h"

namespace weft::schedules {
namespace {

/// F and B of a rank; a turn for which there is no microbatch is left out.
class OrderWriter {
public:
  OrderWriter(PipelineSchedule &schedule, int rank) : schedule(schedule), rank(rank) {}

  void forward(int chunk) {
    if (forwards[chunk] < schedule.microbatches)
      add(chunk, ActionKind::Forward, forwards[chunk]++);
  }
  void backward(int chunk) {
    if (backwards[chunk] < forwards[chunk])
      add(chunk, ActionKind::BackwardInput, backwards[chunk]++);
  }
  bool isDone() const {
    return backwards[0] == schedule.microbatches && backwards[1] == schedule.microbatches;
  }

private:
  void add(int chunk, ActionKind kind, int microbatch) {
    schedule.actions[rank].push_back({schedule.stageOf(rank, chunk), kind, microbatch});
  }

  PipelineSchedule &schedule;
  int rank;
  int forwards[2] = {}, backwards[2] = {};
};

} // namespace

PipelineSchedule zeroBubbleV(const ScheduleShape &shape) {
  PipelineSchedule order = makeSchedule("zb_v", shape.ranks, 2, shape.microbatches, StageLayout::V);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    OrderWriter writer(order, rank);
    const int behind = shape.ranks - 1 - rank;
    for (int turn = 0; turn < 2 * behind; ++turn)
      writer.forward(0);
    for (int turn = 0; turn <= rank; ++turn)
      writer.forward(0), writer.forward(1);
    for (int turn = 0; turn < behind; ++turn)
      writer.backward(1), writer.forward(1);
    while (!writer.isDone())
      writer.backward(1), writer.forward(0), writer.backward(0), writer.forward(1);
  }
  ListPolicy policy;
  policy.heldLimit = 2 * shape.ranks;
  // A backward always stands before the forward that would pass the limit, so there is a way on.
  return *placeWeights(order, ActionTimes(), policy);
}

} // namespace weft::schedules
