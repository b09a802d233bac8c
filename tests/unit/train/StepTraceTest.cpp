// Traces of a rank of a pipeline, of which the times are written by hand.
#include "runtime/train/StepTrace.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/train/TraceOnRanks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <thread>

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// The first rank of a pipeline of two, with one microbatch: each action has one command, but for 0B.
Executable pipelineRank() {
  Executable executable;
  executable.mesh.axes = {{"p0", 2}, {"d0", 3}};
  executable.mesh.roles = {{"data", {1}}, {"tensor", {}}, {"pipeline", {0}}};
  for (const char *name : {"add", "send", "send_wait", "receive", "receive_wait", "all_reduce"})
    executable.kernels.push_back({{name, {}, {}, {}}, 0});
  Program step;
  step.name = "step";
  const auto add = [&](const char *name, bool perMicrobatch, std::vector<uint32_t> kernels) {
    step.actions.push_back({name, perMicrobatch, static_cast<uint32_t>(step.commands.size()),
                            static_cast<uint32_t>(kernels.size())});
    for (uint32_t kernel : kernels) {
      Command &command = step.commands.emplace_back();
      command.kind = kernel == kNone ? CommandKind::Copy : CommandKind::Launch;
      command.kernel = kernel;
    }
    const uint32_t action = static_cast<uint32_t>(step.actions.size() - 1);
    step.schedule.push_back({action, perMicrobatch ? 0 : kNone});
  };
  add("prepare", false, {0});
  add("0F", true, {0});
  add("0F.send", true, {1});
  add("0B.receive", true, {3});
  add("0B.receive_wait", true, {4});
  add("0B", true, {0, 5});
  add("12W", true, {0});
  add("0F.send_wait", true, {2});
  add("update.local", false, {});
  add("update.exchange", false, {kNone, 5});
  add("update", false, {0, 5});
  executable.programs = {std::move(step)};
  return executable;
}

/// Every command takes 10 ns, and 1 ns passes before each action. The first begins at 1001.
RunTimes evenTimes(const Program &program) {
  RunTimes times(program);
  std::span<int64_t> room = times.room();
  int64_t now = 1000;
  for (const ScheduleItem &item : program.schedule) {
    room[0] = now += 1;
    for (uint32_t i = 0; i < program.actions[item.action].commandCount; ++i)
      room[1 + i] = now += 10;
    room = room.subspan(1 + program.actions[item.action].commandCount);
  }
  return times;
}

TEST(StepTrace, ActionsAreNamedAsPlansNameThem) {
  const Executable executable = pipelineRank();
  const Program &step = executable.programs[0];
  std::vector<std::string> names, categories;
  for (const ScheduleItem &item : step.schedule) {
    names.push_back(itemName(step, item));
    categories.emplace_back(categoryOf(executable, step, step.actions[item.action]));
  }
  EXPECT_THAT(names, ElementsAre("prepare", "0F0", "0F.send 0", "0B.receive 0", "0B.receive_wait 0", "0B0",
                                 "12W0", "0F.send_wait 0", "update.local", "update.exchange", "update"));
  EXPECT_THAT(categories, ElementsAre("update", "F", "message", "message", "message", "B", "W", "message",
                                      "update", "collective", "update"));
}

TEST(StepTrace, AnActionWithoutStagesIsForwardAndBackward) {
  Executable executable = pipelineRank();
  Program &step = executable.programs[0];
  for (const char *name : {"forward_backward", "F", "0X", "0", "B0", "0FB", ""}) {
    step.actions[1].name = name;
    EXPECT_EQ(categoryOf(executable, step, step.actions[1]),
              name == std::string("forward_backward") ? "F,BW" : "update")
        << name;
    EXPECT_EQ(itemName(step, {1, 7}), std::string(name) + " 7");
  }
}

TEST(StepTrace, UseIsWhatTheRankDidItself) {
  const Executable executable = pipelineRank();
  const RankUse use = useOf(executable, evenTimes(executable.programs[0]));
  EXPECT_EQ(use.start, 1001);
  EXPECT_EQ(use.end, 1141); // 13 commands, and 11 starts of which the first is before it
  EXPECT_EQ(use.exchanging, 70);
  EXPECT_EQ(use.busy, 60);
  EXPECT_EQ(use.computing, 10 + 20 + 10);
  EXPECT_EQ(use.computeSpan, 75); // 0F0 to 12W0, with three messages and five starts between
  EXPECT_NEAR(use.bubble(), 35.0 / 75, 1e-12);
}

TEST(StepTrace, AProgramThatComputesNothingHasNoBubble) {
  Executable executable = pipelineRank();
  executable.programs[0].schedule.clear();
  EXPECT_EQ(useOf(executable, RunTimes(executable.programs[0])).bubble(), 0);
}

TEST(StepTrace, EventsCountFromTheOrigin) {
  const Executable executable = pipelineRank();
  const Json events =
      Json::parse("[" + traceEvents(executable, evenTimes(executable.programs[0]), 4, 1001) + "]");
  ASSERT_EQ(events.size(), 12u);
  EXPECT_EQ(events[0]["args"]["name"], "rank 4 (pipeline 1 of 2, data 1 of 3)");
  const Json &backward = events[6];
  EXPECT_EQ(backward["name"], "0B0");
  EXPECT_EQ(backward["ts"], 0.055);
  EXPECT_EQ(backward["dur"], 0.02);
  EXPECT_EQ(backward["args"], Json({{"action", "0B"}, {"microbatch", 0}, {"exchanging_us", 0.01}}));
  EXPECT_FALSE(events[1]["args"].contains("microbatch"));
  EXPECT_EQ(events[9]["dur"], 0) << "an action may have no commands";
}

/// The report of rank 0 for a mesh of pipeline 2 times so many data ranks, each with a clock that is 100 ns
/// per rank ahead. `weights`: the last of the actions of stages.
TraceReport reportOf(uint32_t dataRanks, bool isShared, const char *weights) {
  Executable executable = pipelineRank();
  executable.programs[0].actions[6].name = weights;
  executable.mesh.axes[1].size = dataRanks;
  const int ranks = static_cast<int>(executable.mesh.ranks());
  std::vector<std::unique_ptr<Communicator>> group = *createLocalGroup(ranks);
  std::vector<TraceReport> reports(group.size());
  std::vector<std::thread> threads;
  for (std::unique_ptr<Communicator> &own : group)
    threads.emplace_back([&, communicator = std::move(own)] {
      const int64_t ahead = 100 * communicator->rank();
      RunTimes times = evenTimes(executable.programs[0]);
      for (int64_t &stamp : times.room())
        stamp += ahead;
      const TraceClock clock{1000 + ahead, isShared ? 0 : ahead, isShared};
      absl::StatusOr<TraceReport> report =
          gatherTrace(*communicator, executable, times, clock, {"runs/a", 3});
      EXPECT_EQ(report.status(), absl::OkStatus());
      reports[static_cast<size_t>(communicator->rank())] = *std::move(report);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(std::all_of(reports.begin() + 1, reports.end(),
                          [](const TraceReport &report) { return report.file.empty(); }));
  return reports[0];
}

TEST(TraceOnRanks, RankZeroHasTheTracksOfAll) {
  for (bool isShared : {true, false}) {
    const Json trace = Json::parse(reportOf(3, isShared, "0W").file);
    std::vector<double> starts;
    for (const Json &event : trace["traceEvents"])
      if (event["name"] == "prepare")
        starts.push_back(event["ts"]);
    if (isShared)
      EXPECT_THAT(starts, ElementsAre(0.001, 0.101, 0.201, 0.301, 0.401, 0.501));
    else
      EXPECT_THAT(starts, ElementsAre(0.001, 0.001, 0.001, 0.001, 0.001, 0.001));
    EXPECT_EQ(trace["otherData"]["clock_apart_us_at_most"], isShared ? 0 : 0.5);
    EXPECT_EQ(trace["otherData"]["mesh"], "p0 = 2, d0 = 3");
  }
}

TEST(TraceOnRanks, ManyRanksHaveALineForEachPlaceInThePipeline) {
  EXPECT_EQ(reportOf(9, true, "0W").table,
            "trace: step 3, 0.0 ms\n"
            "  rank                             busy ms  exchanging ms   bubble  planned\n"
            "  pipeline 0, mean of 9 ranks        0.000          0.000    46.7%     0.0%\n"
            "  pipeline 1, mean of 9 ranks        0.000          0.000    46.7%     0.0%");
  EXPECT_THAT(
      reportOf(8, true, "0W").table,
      HasSubstr("\n  rank 15 (pipeline 1 of 2, data 7 of 8)        0.000          0.000    46.7%     0.0%"));
}

TEST(TraceOnRanks, AnOrderThatCannotBeReplayedHasNoPlan) {
  EXPECT_THAT(reportOf(2, true, "12W").table, Not(HasSubstr("planned")));
}

TEST(TraceOnRanks, ClocksStartTogether) {
  std::vector<std::unique_ptr<Communicator>> group = *createLocalGroup(4);
  std::vector<TraceClock> clocks(group.size());
  std::vector<std::thread> threads;
  for (std::unique_ptr<Communicator> &own : group)
    threads.emplace_back([&, communicator = std::move(own)] {
      const size_t rank = static_cast<size_t>(communicator->rank());
      std::this_thread::sleep_for(std::chrono::milliseconds(2 * rank));
      clocks[rank] = *startTraceClock(*communicator, false);
    });
  for (std::thread &thread : threads)
    thread.join();
  const auto [first, last] =
      std::minmax_element(clocks.begin(), clocks.end(),
                          [](const TraceClock &a, const TraceClock &b) { return a.origin < b.origin; });
  const int64_t apart =
      std::max_element(clocks.begin(), clocks.end(), [](const TraceClock &a, const TraceClock &b) {
        return a.uncertainty < b.uncertainty;
      })->uncertainty;
  EXPECT_LE(last->origin - first->origin, apart) << "these threads do have one clock";
}

} // namespace
} // namespace weft
