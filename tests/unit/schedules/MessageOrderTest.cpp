//===- MessageOrderTest.cpp - Ranks that run these lists never block for ever ---===//
//
// The lists are run here as ranks run them: a message is over when both sides have begun it, and waits block.
// A message that met another one's receive, or a wait that nobody ends, would show.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/MessageOrder.h"

#include "passes/pipeline/schedules/Generators.h"

#include <gtest/gtest.h>

#include <map>

namespace weft::schedules {
namespace {

using Lists = std::vector<std::vector<PipelineEvent>>;

/// What is said between two ranks in one direction: the sending action of each message, in the order in which
/// sends and receives begin.
struct Line {
  std::vector<Action> sent, received;
  size_t sendsWaited = 0, receivesWaited = 0;
};

class Ranks {
public:
  Ranks(const PipelineSchedule &schedule, const Lists &lists) : schedule(schedule), lists(lists) {}

  void run() {
    std::vector<size_t> next(lists.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t rank = 0; rank < lists.size(); ++rank)
        for (; next[rank] < lists[rank].size() && step(static_cast<int>(rank), lists[rank][next[rank]]);
             ++next[rank])
          moved = true;
    }
    for (size_t rank = 0; rank < lists.size(); ++rank)
      EXPECT_EQ(next[rank], lists[rank].size()) << schedule.name << ": rank " << rank << " waits for ever";
    for (const auto &[ranks, line] : lines) {
      EXPECT_EQ(line.sent, line.received) << schedule.name;
      EXPECT_EQ(line.sendsWaited, line.sent.size());
      EXPECT_EQ(line.receivesWaited, line.received.size());
    }
  }

private:
  static int neighbor(const Action &action, bool gives) {
    bool up = (action.kind == ActionKind::Forward) == gives;
    return action.stage + (up ? 1 : -1);
  }
  /// The action of the stage before that gives what `action` needs, whichever kind its backward has.
  Action giverOf(const Action &action) const {
    Action giver{neighbor(action, false), action.kind, action.microbatch};
    if (action.kind == ActionKind::Forward)
      return giver;
    for (const Action &other : schedule.actions[schedule.rankOf(giver.stage)])
      if (other.stage == giver.stage && other.microbatch == giver.microbatch && givesCotangent(other.kind))
        giver.kind = other.kind;
    return giver;
  }

  /// False: it waits.
  bool step(int rank, const PipelineEvent &event) {
    const Action &action = event.action;
    const bool gives = event.kind == PipelineEventKind::Send || event.kind == PipelineEventKind::SendWait;
    if (event.kind == PipelineEventKind::Compute)
      return true;
    const int other = schedule.rankOf(neighbor(action, gives));
    Line &line = lines[gives ? std::pair(rank, other) : std::pair(other, rank)];
    switch (event.kind) {
    case PipelineEventKind::Send:
      line.sent.push_back(action);
      return true;
    case PipelineEventKind::Receive:
      line.received.push_back(giverOf(action));
      return true;
    case PipelineEventKind::SendWait:
      if (line.received.size() <= line.sendsWaited)
        return false;
      EXPECT_EQ(line.sent[line.sendsWaited], action);
      ++line.sendsWaited;
      return true;
    default:
      if (line.sent.size() <= line.receivesWaited)
        return false;
      EXPECT_EQ(line.received[line.receivesWaited], giverOf(action));
      ++line.receivesWaited;
      return true;
    }
  }

  const PipelineSchedule &schedule;
  const Lists &lists;
  std::map<std::pair<int, int>, Line> lines;
};

StageMessages everywhere(int stages) {
  return {std::vector<bool>(stages, true), std::vector<bool>(stages, true)};
}

TEST(MessageOrder, EveryScheduleOfTheLiteratureCompletes) {
  int seen = 0;
  for (const ScheduleKind &kind : scheduleKinds())
    for (int ranks : {2, 3, 4, 8})
      for (int microbatches : {1, 2, 3, 7, 8, 16, 17})
        for (double transfer : {0.0, 0.1, 1.0, 3.5}) {
          absl::StatusOr<PipelineSchedule> schedule =
              generateSchedule(kind.name, {ranks, microbatches, 0, 0});
          if (!schedule.ok())
            continue;
          absl::StatusOr<Lists> lists =
              orderMessages(*schedule, {1, 1, 1, transfer}, everywhere(schedule->stages()));
          ASSERT_TRUE(lists.ok()) << lists.status();
          Ranks(*schedule, *lists).run();
          ++seen;
        }
  EXPECT_EQ(seen, 948);
}

TEST(MessageOrder, KeepsTheOrderOfTheSchedule) {
  absl::StatusOr<PipelineSchedule> schedule = generateSchedule("zb_v", {4, 8, 0, 0});
  ASSERT_TRUE(schedule.ok());
  absl::StatusOr<Lists> lists = orderMessages(*schedule, {1, 2, 3, 0.5}, everywhere(schedule->stages()));
  ASSERT_TRUE(lists.ok());
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<Action> computed;
    for (const PipelineEvent &event : (*lists)[rank])
      if (event.kind == PipelineEventKind::Compute)
        computed.push_back(event.action);
    EXPECT_EQ(computed, schedule->actions[rank]);
  }
}

TEST(MessageOrder, SaysNothingWhereThereIsNothingToSay) {
  absl::StatusOr<PipelineSchedule> schedule = generateSchedule("1f1b", {2, 4, 0, 0});
  ASSERT_TRUE(schedule.ok());
  absl::StatusOr<Lists> lists = orderMessages(*schedule, {}, {{false, false}, {false, false}});
  ASSERT_TRUE(lists.ok());
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_EQ((*lists)[rank].size(), schedule->actions[rank].size());
}

TEST(MessageOrder, AReceiveBeginsWhileTheReceiverComputes) {
  absl::StatusOr<PipelineSchedule> schedule = generateSchedule("1f1b", {2, 4, 0, 0});
  ASSERT_TRUE(schedule.ok());
  absl::StatusOr<Lists> lists = orderMessages(*schedule, {1, 1, 1, 0.5}, everywhere(2));
  ASSERT_TRUE(lists.ok());
  const std::vector<PipelineEvent> &list = (*lists)[0];
  auto indexOf = [&](PipelineEventKind kind, Action action) {
    return std::find(list.begin(), list.end(), PipelineEvent{kind, action}) - list.begin();
  };
  // The cotangent of microbatch 0 comes while microbatch 1 goes forward.
  EXPECT_LT(indexOf(PipelineEventKind::Receive, {0, ActionKind::Backward, 0}),
            indexOf(PipelineEventKind::Compute, {0, ActionKind::Forward, 1}));
  EXPECT_GT(indexOf(PipelineEventKind::ReceiveWait, {0, ActionKind::Backward, 0}),
            indexOf(PipelineEventKind::Compute, {0, ActionKind::Forward, 1}));
}

} // namespace
} // namespace weft::schedules
