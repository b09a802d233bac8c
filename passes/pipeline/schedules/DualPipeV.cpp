//===- DualPipeV.cpp - DeepSeek's DualPipe, cut in half -------------------===//
//
// The eight steps of github.com/deepseek-ai/DualPipe (dualpipev.py): in the steady state a forward of one
// chunk stands beside a backward of the other. There the two overlap inside one action, `F&B`; here they are
// two actions, one after the other.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Generators.h"

#include <deque>

namespace weft::schedules {
namespace {

class RankWriter {
public:
  RankWriter(const PipelineSchedule &schedule, int rank) : schedule(schedule), rank(rank) {}

  void forward(int chunk) { add(chunk, ActionKind::Forward, forwards[chunk]++); }
  void whole(int chunk) { add(chunk, ActionKind::Backward, backwards[chunk]++); }
  /// A backward whose weight gradient comes later.
  void input(int chunk) {
    add(chunk, ActionKind::BackwardInput, backwards[chunk]++);
    Action weight = list.back();
    weight.kind = ActionKind::BackwardWeight;
    later.push_back(weight);
  }
  void weight() {
    list.push_back(later.front());
    later.pop_front();
  }
  std::vector<Action> take() { return std::move(list); }

private:
  void add(int chunk, ActionKind kind, int microbatch) {
    list.push_back({schedule.stageOf(rank, chunk), kind, microbatch});
  }

  const PipelineSchedule &schedule;
  int rank;
  int forwards[2] = {}, backwards[2] = {};
  std::vector<Action> list;
  std::deque<Action> later;
};

/// The last backwards of both chunks: from half way on their weight gradients wait.
void drain(RankWriter &writer, int rank) {
  const int half = (rank + 1) / 2;
  bool isSplit = false;
  const auto backward = [&](int chunk) { isSplit ? writer.input(chunk) : writer.whole(chunk); };
  for (int turn = 0; turn <= rank; ++turn) {
    isSplit |= turn == half && rank % 2 == 1;
    backward(1);
    isSplit |= turn == half && rank % 2 == 0;
    backward(0);
  }
}

} // namespace

PipelineSchedule dualPipeV(const ScheduleShape &shape) {
  PipelineSchedule schedule = makeSchedule("dualpipe_v", shape.ranks, 2, shape.microbatches, StageLayout::V);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    RankWriter writer(schedule, rank);
    const int behind = shape.ranks - 1 - rank;
    for (int turn = 0; turn < 2 * behind; ++turn)
      writer.forward(0);
    for (int turn = 0; turn <= rank; ++turn)
      writer.forward(0), writer.forward(1);
    for (int turn = 0; turn < behind; ++turn)
      writer.input(1), writer.weight(), writer.forward(1);
    for (int turn = 0; turn < shape.microbatches - 2 * shape.ranks + rank + 1; ++turn)
      writer.forward(0), writer.whole(1), writer.forward(1), writer.whole(0);
    for (int turn = 0; turn < behind; ++turn)
      writer.whole(1), writer.forward(1), writer.whole(0);
    drain(writer, rank);
    for (int turn = 0; turn < behind; ++turn)
      writer.weight(), writer.input(0);
    for (int turn = 0; turn <= rank; ++turn)
      writer.weight();
    schedule.actions[rank] = writer.take();
  }
  return schedule;
}

} // namespace weft::schedules
