//===- ScheduleTextTest.cpp - Schedules as people write them --------------===//
#include "passes/pipeline/schedules/Generators.h"

#include "Written.h"

namespace weft::schedules {
namespace {

std::string refusal(const std::string &text) {
  absl::StatusOr<PipelineSchedule> schedule = parseSchedule(text, "my.txt");
  EXPECT_FALSE(schedule.ok()) << text;
  return std::string(schedule.status().message());
}

TEST(ScheduleText, ReadsWhatPeopleWrite) {
  PipelineSchedule schedule = written("# two ranks\n"
                                      "layout v   # there and back\r\n"
                                      "stages 4\n"
                                      "\n"
                                      "microbatches 1\n"
                                      "rank 1 |     1F0 2F0\t2BW0\n"
                                      "rank 0|0F0\n"
                                      "rank 1 | 1B0\n"
                                      "rank 1 |\n"
                                      "rank 0 | 3F0\n");
  EXPECT_EQ(schedule.ranks, 2);
  EXPECT_EQ(schedule.chunks, 2);
  EXPECT_EQ(schedule.layout, StageLayout::V);
  EXPECT_EQ(schedule.actions[0],
            (std::vector<Action>{{0, ActionKind::Forward, 0}, {3, ActionKind::Forward, 0}}));
  EXPECT_EQ(schedule.actions[1], (std::vector<Action>{{1, ActionKind::Forward, 0},
                                                      {2, ActionKind::Forward, 0},
                                                      {2, ActionKind::Backward, 0},
                                                      {1, ActionKind::BackwardInput, 0}}));
}

TEST(ScheduleText, EveryScheduleReadsBack) {
  for (const ScheduleKind &kind : scheduleKinds()) {
    PipelineSchedule schedule = *generateSchedule(kind.name, {4, 9});
    EXPECT_EQ(*parseSchedule(printSchedule(schedule), schedule.name), schedule) << kind.name;
  }
}

TEST(ScheduleText, AWrongActionIsShownWithLineAndColumn) {
  const std::string head = "microbatches 2\nrank 0 | 0F0 0F1 ";
  const std::string expected =
      "my.txt:2:18: expected an action: stage, F, B, W or BW, microbatch, such as 0F0 or 1BW3; "
      "got ";
  for (std::string word : {"0X1", "F0", "0F", "0F1a", "-1F0", "0f0", "0WB0", "|"})
    EXPECT_EQ(refusal(head + word), expected + "'" + word + "'");
  EXPECT_EQ(refusal(head + "0F\x01\xff"), expected + "'0F?"
                                                     "?'");
  EXPECT_EQ(refusal(head + std::string(100, '9')), expected + "'" + std::string(32, '9') + "...'");
  EXPECT_EQ(refusal(head + "99999F0"),
            "my.txt:2:18: expected a stage, a number from 0 to 16383, got '99999'");
  EXPECT_EQ(refusal(head + "0F99999999999"),
            "my.txt:2:18: expected a microbatch, a number from 0 to 65535, got '99999999999'");
}

TEST(ScheduleText, AnActionOnTheWrongRankIsShown) {
  EXPECT_EQ(refusal("microbatches 1\nrank 0 | 0F0 1F0\nrank 1 | 1BW0"),
            "my.txt:2:14: 1F0: stage 1 is on rank 1 in layout loop; move it there, or change the layout");
  EXPECT_EQ(refusal("microbatches 1\nrank 0 | 0F0 2F0"),
            "my.txt:2:14: 2F0: there are stages 0 to 0. More are declared by a line: stages 2");
  EXPECT_EQ(refusal("microbatches 1\nrank 0 | 0F0 0F1"),
            "my.txt:2:14: 0F1: there are microbatches 0 to 0 (line 1)");
}

TEST(ScheduleText, AWrongLineIsShown) {
  EXPECT_EQ(refusal("rnak 0 | 0F0"), "my.txt:1:1: expected rank, stages, microbatches or layout at the start "
                                     "of a line, got 'rnak'. A rank's line "
                                     "is: rank 0 | 0F0 0F1 0BW0 0BW1");
  EXPECT_EQ(refusal("rank | 0F0"),
            "my.txt:1:8: expected the number of the rank and a bar: rank 0 | 0F0 0F1 0BW0 0BW1");
  EXPECT_EQ(refusal("rank 0"),
            "my.txt:1:6: expected the number of the rank and a bar: rank 0 | 0F0 0F1 0BW0 0BW1");
  EXPECT_EQ(refusal("rank zero | 0F0"),
            "my.txt:1:6: expected the number of a rank, a number from 0 to 4095, got 'zero'");
  EXPECT_EQ(refusal("layout v\nlayout loop"),
            "my.txt:2:1: layout was given in line 1 already. Remove one of the two");
  EXPECT_EQ(refusal("stages"), "my.txt:1:1: expected stages and a number, nothing else");
  EXPECT_EQ(refusal("stages 2 3"), "my.txt:1:10: expected stages and a number, nothing else");
  EXPECT_EQ(refusal("microbatches 1\nlayout w\nrank 0 | 0F0"),
            "my.txt:2:8: expected loop (stage s on rank s mod ranks) or v (there and back), got 'w'");
}

TEST(ScheduleText, WhatIsMissingIsSaid) {
  EXPECT_EQ(refusal(""), "my.txt:1:1: there is no rank. Write a line for each: rank 0 | 0F0 0F1 0BW0 0BW1");
  EXPECT_EQ(refusal("rank 0 | 0F0\n"), "my.txt:1:1: expected a line with their number: microbatches 8");
  EXPECT_EQ(refusal("microbatches 0\nrank 0 | 0F0\n"),
            "my.txt:1:14: expected microbatches, a number from 1 to 65536, got '0'");
  EXPECT_EQ(refusal("microbatches 1\nrank 0 | 0F0\nrank 2 | 0BW0\n"),
            "my.txt:3:6: rank 1 has no action. Ranks are numbered from 0 without a gap, and each has work");
  EXPECT_EQ(refusal("microbatches 1\nstages 3\nrank 0 | 0F0\nrank 1 | 1F0\n"),
            "my.txt:2:8: 3 stages on 2 ranks: each rank has the same number. Works: 2, 4, 6");
}

} // namespace
} // namespace weft::schedules
