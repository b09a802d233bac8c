//===- ScheduleViewsTest.cpp - Table, picture, trace, figures -------------===//
#include "compiler/schedule/ScheduleReport.h"
#include "compiler/schedule/ScheduleSvg.h"
#include "compiler/schedule/ScheduleTable.h"
#include "compiler/schedule/ScheduleTrace.h"
#include "passes/pipeline/schedules/ResolveSchedule.h"

#include "Written.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace weft {
namespace {

using namespace schedules;
using ::testing::HasSubstr;
using ::testing::Not;

std::string tableOf(const PipelineSchedule &schedule, const ActionTimes &times,
                    const TableStyle &style = {}) {
  return scheduleTable(schedule, *simulate(schedule, times), times, style);
}

TEST(ScheduleTable, ActionsStandWhereTheyStart) {
  EXPECT_EQ(tableOf(*generateSchedule("zb_h1", {2, 2}), {1, 1, 1, 0}),
            "rank 0 | 0F0 0F1     0B0 0W0 0B1 0W1\n"
            "rank 1 |     1F0 1B0 1F1 1B1 1W0 1W1\n");
}

TEST(ScheduleTable, ReadsBackWhateverItsWidth) {
  for (const ScheduleKind &kind : scheduleKinds())
    for (int width : {0, 40, 110, 10000})
      for (const ActionTimes &times :
           {ActionTimes{1, 1, 1, 0}, ActionTimes{18.5, 18.1, 9.3, 0.6}, ActionTimes{1, 1e-6, 0, 5}}) {
        PipelineSchedule schedule = *generateSchedule(kind.name, {3, 7});
        std::string text = "stages " + std::to_string(schedule.stages()) + "\nmicrobatches 7\nlayout " +
                           std::string(name(schedule.layout)) + "\n" +
                           tableOf(schedule, times, {width, false});
        absl::StatusOr<PipelineSchedule> read = parseSchedule(text, schedule.name);
        ASSERT_TRUE(read.ok()) << read.status() << text;
        EXPECT_EQ(*read, schedule) << text;
      }
}

TEST(ScheduleTable, HasColorsWhereTheyAreWanted) {
  PipelineSchedule schedule = *generateSchedule("1f1b", {2, 2});
  EXPECT_THAT(tableOf(schedule, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(tableOf(schedule, {}, {110, true}), HasSubstr("\x1b[34m0F0\x1b[0m"));
}

TEST(ScheduleSvg, HasABoxForEachAction) {
  PipelineSchedule schedule = *generateSchedule("zb_v", {2, 4});
  std::string svg = scheduleSvg(schedule, *simulate(schedule, {}), {});
  size_t boxes = 0;
  for (size_t at = 0; (at = svg.find("<rect", at)) != std::string::npos; ++at)
    ++boxes;
  // Actions, ranks, the background, and the legend: F, B, W, and the second chunk.
  EXPECT_EQ(boxes, static_cast<size_t>(actionCount(schedule)) + 2 + 1 + 4);
  EXPECT_THAT(svg, HasSubstr("zb_v: 2 ranks, 4 microbatches, bubble 0 of a span of 12"));
}

TEST(ScheduleTrace, HoldsThePlanActionByAction) {
  PipelineSchedule schedule = *generateSchedule("1f1b", {2, 3});
  schedule.name = "my \"plan\"\xff";
  const ActionTimes times = {2, 3, 5, 1};
  nlohmann::json trace = nlohmann::json::parse(scheduleTrace(schedule, *simulate(schedule, times), times));
  std::vector<std::vector<std::string>> order(2);
  int held = 0;
  for (const nlohmann::json &event : trace["traceEvents"]) {
    if (event["ph"] == "X")
      order[event["tid"].get<int>()].push_back(event["name"]);
    if (event["ph"] == "C" && event["name"] == "held by rank 0")
      held = std::max(held, event["args"]["chunks"].get<int>());
  }
  EXPECT_EQ(order[0], (std::vector<std::string>{"0F0", "0F1", "0BW0", "0F2", "0BW1", "0BW2"}));
  EXPECT_EQ(order[1].size(), 6u);
  EXPECT_EQ(held, 2);
  const nlohmann::json &first = trace["traceEvents"][2];
  EXPECT_EQ(first["name"], "0F0");
  EXPECT_EQ(first["dur"], 2000);
}

TEST(ScheduleReport, PutsTheFormulaBesideTheMeasurement) {
  PipelineSchedule schedule = *generateSchedule("zb_h1", {4, 8});
  std::string figures = scheduleFigures(schedule, *simulate(schedule, {}), {}, std::nullopt);
  EXPECT_THAT(figures, HasSubstr("bubble 3 (11.1 % of the span)"));
  EXPECT_THAT(figures,
              HasSubstr("bubble (p-1)(F+B-W) = 3, so +0 here; most held p = 4 (arXiv:2401.10241)\n"));
  schedule = *generateSchedule("zb_h2", {4, 5});
  EXPECT_THAT(scheduleFigures(schedule, *simulate(schedule, {}), {}, std::nullopt),
              HasSubstr("it is for more microbatches"));
}

TEST(ScheduleReport, ComparesAllAndSaysWhyOneCannotBe) {
  std::string table = compareSchedules({4, 7}, {1, 1, 1, 0}, 4);
  for (const ScheduleKind &kind : scheduleKinds())
    EXPECT_THAT(table, HasSubstr("\n" + std::string(kind.name) + " "));
  EXPECT_THAT(table, HasSubstr("dualpipe_v         dualpipe_v: 7 microbatches on 4 ranks"));
  EXPECT_THAT(table, HasSubstr("auto, held 4            1 "));
  EXPECT_EQ(heldChunks(2.5, 2), 5);
  EXPECT_EQ(heldChunks(2.3333, 3), 7);
  EXPECT_EQ(heldChunks(1e300, 2), std::numeric_limits<int>::max());
}

} // namespace
} // namespace weft
