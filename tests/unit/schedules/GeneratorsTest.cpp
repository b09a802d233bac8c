//===- GeneratorsTest.cpp - Every schedule for any shape ------------------===//
#include "passes/pipeline/schedules/Generators.h"
#include "passes/pipeline/schedules/VerifySchedule.h"

#include "Written.h"

namespace weft::schedules {
namespace {

TEST(Generators, EveryScheduleIsCompleteInOrderAndWithoutACircle) {
  int verified = 0;
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (int microbatches = 1; microbatches <= 3 * ranks + 2; ++microbatches)
      for (const ScheduleKind &kind : scheduleKinds()) {
        absl::StatusOr<PipelineSchedule> schedule = generateSchedule(kind.name, {ranks, microbatches});
        if (kind.name == "dualpipe_v" && microbatches < 2 * ranks) {
          EXPECT_FALSE(schedule.ok());
          continue;
        }
        ASSERT_TRUE(schedule.ok()) << schedule.status();
        absl::Status status = verifySchedule(*schedule);
        EXPECT_TRUE(status.ok()) << kind.name << " " << ranks << " x " << microbatches << ": " << status;
        EXPECT_EQ(schedule->name, kind.name);
        EXPECT_EQ(schedule->layout, kind.layout);
        ++verified;
      }
  EXPECT_GT(verified, 1000);
}

TEST(Generators, InterleavedTakesAnyChunksAndGroups) {
  for (int ranks : {2, 3, 4, 8})
    for (int chunks : {1, 2, 3, 5})
      for (int microbatches : {1, ranks - 1, ranks, ranks + 1, 2 * ranks - 1, 3 * ranks, 4 * ranks + 1})
        for (int group : {0, ranks, ranks + 1, 2 * ranks}) {
          PipelineSchedule schedule = *generateSchedule("interleaved", {ranks, microbatches, chunks, group});
          absl::Status status = verifySchedule(schedule);
          EXPECT_TRUE(status.ok()) << ranks << " x " << chunks << ", " << microbatches << ": " << status;
        }
}

TEST(Generators, InterleavedWithOneChunkIs1f1b) {
  PipelineSchedule one = *generateSchedule("interleaved", {4, 8, 1});
  EXPECT_EQ(one.actions, generateSchedule("1f1b", {4, 8})->actions);
}

TEST(Generators, AreWrittenAsThePapersDrawThem) {
  EXPECT_EQ(printSchedule(*generateSchedule("1f1b", {2, 3})),
            "# 1f1b\nstages 2\nlayout loop\nmicrobatches 3\n"
            "rank 0 | 0F0 0F1 0BW0 0F2 0BW1 0BW2\n"
            "rank 1 | 1F0 1BW0 1F1 1BW1 1F2 1BW2\n");
  EXPECT_EQ(printSchedule(*generateSchedule("gpipe", {1, 2})),
            "# gpipe\nstages 1\nlayout loop\nmicrobatches 2\nrank 0 | 0F0 0F1 0BW0 0BW1\n");
  EXPECT_EQ(printSchedule(*generateSchedule("zb_h1", {2, 3})),
            "# zb_h1\nstages 2\nlayout loop\nmicrobatches 3\n"
            "rank 0 | 0F0 0F1 0B0 0W0 0F2 0B1 0W1 0B2 0W2\n"
            "rank 1 | 1F0 1B0 1F1 1B1 1W0 1F2 1B2 1W1 1W2\n");
}

TEST(Generators, WhatCannotBeIsRefusedWithWhatCan) {
  const auto refusal = [](std::string_view name, const ScheduleShape &shape) {
    return std::string(generateSchedule(name, shape).status().message());
  };
  EXPECT_EQ(refusal("dualpipe_v", {4, 7}),
            "dualpipe_v: 7 microbatches on 4 ranks; it needs 2 for each rank. Works: 8 "
            "microbatches or more, or zb_v, which takes any number");
  EXPECT_EQ(refusal("zb_h1", {4, 8, 2}),
            "zb_h1: each rank has 1 chunk, not 2. interleaved takes any number of them");
  EXPECT_EQ(refusal("zb_v", {4, 8, 0, 4}),
            "zb_v has no groups of microbatches; a group size is for interleaved");
  EXPECT_EQ(refusal("interleaved", {4, 8, 2, 3}),
            "interleaved: a group of 3 microbatches is back at the first rank before that is done with "
            "it. Works: 4 "
            "(the ranks) or more");
  EXPECT_EQ(refusal("1f1b", {0, 8}),
            "1f1b: 0 ranks and 8 microbatches; there are 1 to 4096 ranks and 1 to 65536 microbatches");
  EXPECT_EQ(refusal("1f1b", {4096, 65536}),
            "1f1b: 4096 stages with 65536 microbatches; there are up to 16384 stages and "
            "4194304 actions. Lower one of the two");
  EXPECT_EQ(refusal("zbv", {4, 8}),
            "no schedule 'zbv'; there are gpipe, 1f1b, interleaved, zb_h1, zb_h2, zb_v, "
            "v_half, v_min, dualpipe_v");
}

} // namespace
} // namespace weft::schedules
