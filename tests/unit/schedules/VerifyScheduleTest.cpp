//===- VerifyScheduleTest.cpp - What is refused, and how it is said -------===//
#include "passes/pipeline/schedules/VerifySchedule.h"

#include "Written.h"

namespace weft::schedules {
namespace {

std::string refusal(const std::string &ranks, const std::string &head = "microbatches 2\n") {
  absl::Status status = verifySchedule(written(head + ranks));
  EXPECT_FALSE(status.ok()) << ranks;
  return std::string(status.message());
}

TEST(VerifySchedule, AcceptsSplitAndWholeBackwardsSideBySide) {
  EXPECT_TRUE(verifySchedule(written("microbatches 2\nrank 0 | 0F0 0F1 0B0 0BW1 0W0\n")).ok() == false);
  EXPECT_TRUE(verifySchedule(written("microbatches 2\nrank 0 | 0F0 0F1 0B0 0W0 0BW1\n")).ok());
}

TEST(VerifySchedule, AMissingActionIsNamedWithItsRank) {
  EXPECT_EQ(refusal("rank 0 | 0F0 0F1 0B0 0W0 0B1\n"),
            "schedule: 0W1 is missing: each stage runs each microbatch once. Add it to rank 0");
  EXPECT_EQ(refusal("rank 0 | 0F0 0BW0 0F1 0BW1\nrank 1 | 1F0 1B0 1W0 1F1\n"),
            "schedule: 1B1 is missing: each stage runs each microbatch once. Add it to rank 1");
  EXPECT_EQ(
      refusal("rank 0 | 0F0 0BW0\n", "microbatches 65536\n"),
      "schedule: 2 actions in all; 1 stages with 65536 microbatches need at least 131072, a forward and a "
      "backward each");
}

TEST(VerifySchedule, ADoubledActionIsNamedWithItsPlace) {
  EXPECT_EQ(refusal("rank 0 | 0F0 0F1 0BW0 0F1 0BW1\n"),
            "schedule: rank 0, action 4 (0F1): it comes twice; each action runs once. Remove one");
  EXPECT_EQ(refusal("rank 0 | 0F0 0F1 0BW0 0W0 0BW1\n"),
            "schedule: rank 0, action 4 (0W0): its backward comes twice: BW is B and W in one. Keep BW, or B "
            "and W");
  EXPECT_EQ(refusal("rank 0 | 0F0 0F1 0B0 0BW0 0BW1\n"),
            "schedule: rank 0, action 4 (0BW0): its backward comes twice: BW is B and W in one. Keep BW, or "
            "B and W");
}

TEST(VerifySchedule, AnActionStandsBehindWhatItNeeds) {
  EXPECT_EQ(refusal("rank 0 | 0F0 0B0 0W0 0W1 0F1 0B1\n"),
            "schedule: rank 0, action 4 (0W1): it comes before its forward; put 0F1 before 0W1");
  EXPECT_EQ(refusal("rank 0 | 0F0 0F1 0W0 0B0 0B1 0W1\n"),
            "schedule: rank 0, action 3 (0W0): it comes before its B; put 0B0 before 0W0");
}

TEST(VerifySchedule, MicrobatchesOfAKindAscend) {
  EXPECT_EQ(refusal("rank 0 | 0F1 0F0 0B0 0B1 0W0 0W1\n"),
            "schedule: rank 0, action 2 (0F0): it comes after microbatch 1; forwards of a stage send in that "
            "order, so "
            "microbatches must ascend. Exchange the two");
  EXPECT_EQ(refusal("rank 0 | 0F0 0F1 0B1 0B0 0W0 0W1\n"),
            "schedule: rank 0, action 4 (0B0): it comes after microbatch 1; backwards of a stage send in "
            "that order, so "
            "microbatches must ascend. Exchange the two");
  EXPECT_EQ(refusal("rank 0 | 0F0 0F1 0B0 0B1 0W1 0W0\n"),
            "schedule: rank 0, action 6 (0W0): it comes after microbatch 1; weight gradients are added up in "
            "that order, "
            "so microbatches must ascend. Exchange the two");
  // A whole backward adds up gradients too.
  EXPECT_EQ(refusal("rank 0 | 0F0 0F1 0B0 0BW1 0W0\n"),
            "schedule: rank 0, action 5 (0W0): it comes after microbatch 1; weight gradients are added up in "
            "that order, "
            "so microbatches must ascend. Exchange the two");
}

TEST(VerifySchedule, ListsThatParsingWouldRefuseAreRefusedHereToo) {
  PipelineSchedule schedule = written("microbatches 1\nrank 0 | 0F0 0BW0\nrank 1 | 1F0 1BW0\n");
  schedule.actions[0][0].stage = 7;
  EXPECT_EQ(verifySchedule(schedule).message(), "schedule: rank 0, action 1 (7F0): there are stages 0 to 1");
  schedule.actions[0][0] = {0, ActionKind::Forward, -1};
  EXPECT_EQ(verifySchedule(schedule).message(),
            "schedule: rank 0, action 1 (0F-1): there are microbatches 0 to 0");
  schedule.actions[0][0] = {1, ActionKind::Forward, 0};
  EXPECT_EQ(verifySchedule(schedule).message(),
            "schedule: rank 0, action 1 (1F0): stage 1 is on rank 1; move it there");
  schedule.actions.pop_back();
  EXPECT_EQ(verifySchedule(schedule).message(), "schedule: 2 ranks, 1 stages a rank, 1 microbatches and 1 "
                                                "lists; each must be at least 1, with one list for "
                                                "each rank");
}

TEST(VerifySchedule, ACircleIsShown) {
  EXPECT_EQ(refusal("rank 0 | 0F0 0BW0 0F1 0BW1\nrank 1 | 1F0 1F1 1BW0 1BW1\n"),
            "schedule: rank 0 waits for 1B0 from rank 1 before its 0BW0 (action 2), rank 1 waits for 0F1 "
            "from rank 0 "
            "before its 1F1 (action 2): neither can go on");
}

} // namespace
} // namespace weft::schedules
