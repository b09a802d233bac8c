//===- TimelineTest.cpp - When each action starts -------------------------===//
#include "passes/pipeline/schedules/Timeline.h"

#include "Written.h"

#include <gmock/gmock.h>

namespace weft::schedules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Timeline, FollowsWhatEachActionNeeds) {
  PipelineSchedule schedule = written("microbatches 2\n"
                                      "rank 0 | 0F0 0F1 0B0 0W0 0B1 0W1\n"
                                      "rank 1 | 1F0 1B0 1W0 1F1 1B1 1W1\n");
  Timeline timeline = *simulate(schedule, {2, 3, 5, 1});
  // 1F0 waits for 0F0 and the transfer, 0B0 for 1B0 and the transfer, 0B1 for 1B1.
  EXPECT_THAT(timeline.start[1], ElementsAre(3, 5, 8, 13, 15, 18));
  EXPECT_THAT(timeline.start[0], ElementsAre(0, 2, 9, 12, 19, 22));
  EXPECT_THAT(timeline.spans, ElementsAre(27, 20));
  EXPECT_THAT(timeline.busy, ElementsAre(20, 20));
  EXPECT_EQ(timeline.span(), 27);
  EXPECT_EQ(timeline.bubble(), 7);
  EXPECT_EQ(timeline.makespan, 27);
}

TEST(Timeline, TheStageBeforeWaitsForAWholeBackward) {
  PipelineSchedule schedule = written("microbatches 1\nrank 0 | 0F0 0BW0\nrank 1 | 1F0 1BW0\n");
  EXPECT_THAT(simulate(schedule, {2, 3, 5, 0})->start[0], ElementsAre(0, 12));
}

TEST(Timeline, ChunksShareTheTimesOfTheirRankAndTransferOnlyBetweenRanks) {
  PipelineSchedule schedule = written("stages 4\nlayout v\nmicrobatches 1\n"
                                      "rank 0 | 0F0 3F0 3B0 3W0 0B0 0W0\n"
                                      "rank 1 | 1F0 2F0 2B0 2W0 1B0 1W0\n");
  Timeline timeline = *simulate(schedule, {2, 4, 6, 10});
  EXPECT_THAT(timeline.start[1], ElementsAre(11, 12, 36, 38, 41, 43));
  EXPECT_THAT(timeline.start[0], ElementsAre(0, 23, 24, 26, 53, 55));
}

TEST(Timeline, CountsWhatIsHeldFromForwardToWeightGradient) {
  PipelineSchedule schedule = written("microbatches 3\nrank 0 | 0F0 0F1 0B0 0F2 0W0 0B1 0B2 0W1 0W2\n");
  EXPECT_THAT(mostHeld(schedule), ElementsAre(3));
  EXPECT_THAT(mostHeld(written("microbatches 2\nrank 0 | 0F0 0BW0 0F1 0BW1\n")), ElementsAre(1));
}

TEST(Timeline, ShowsACircleOfTwoRanks) {
  // Rank 0 wants the backward of 0 before it sends 1; rank 1 wants forward 1 before it gives that backward.
  PipelineSchedule schedule = written("microbatches 2\n"
                                      "rank 0 | 0F0 0B0 0F1 0B1 0W0 0W1\n"
                                      "rank 1 | 1F0 1F1 1B0 1B1 1W0 1W1\n");
  EXPECT_EQ(simulate(schedule, {}).status().message(), "schedule: rank 0 waits for 1B0 from rank 1 before "
                                                       "its 0B0 (action 2), rank 1 waits for 0F1 from rank 0 "
                                                       "before its 1F1 (action 2): neither can go on");
}

TEST(Timeline, ShowsACircleOfThreeRanks) {
  PipelineSchedule schedule = written("stages 6\nmicrobatches 1\n"
                                      "rank 0 | 0F0 3F0 3BW0 0BW0\n"
                                      "rank 1 | 4F0 1F0 4BW0 1BW0\n"
                                      "rank 2 | 2F0 5F0 5BW0 2BW0\n");
  EXPECT_EQ(simulate(schedule, {}).status().message(), "schedule: rank 0 waits for 2F0 from rank 2 before "
                                                       "its 3F0 (action 2), rank 2 waits for 1F0 from rank 1 "
                                                       "before its 2F0 (action 1), rank 1 waits for 3F0 from "
                                                       "rank 0 before its 4F0 (action 1): none can go on");
}

TEST(Timeline, ARankThatOnlyWaitsForACircleIsNotShownInIt) {
  PipelineSchedule schedule = written("microbatches 2\n"
                                      "rank 0 | 0F0 0BW0 0F1 0BW1\n"
                                      "rank 1 | 1F0 1F1 1BW0 1BW1\n"
                                      "rank 2 | 2F0 2F1 2BW0 2BW1\n");
  std::string message(simulate(schedule, {}).status().message());
  EXPECT_THAT(message, HasSubstr("rank 1 waits for 0F1 from rank 0 before its 1F1 (action 2)"));
  EXPECT_THAT(message, Not(HasSubstr("rank 2")));
}

TEST(Timeline, ARankMayWaitForItself) {
  PipelineSchedule schedule = written("microbatches 1\nrank 0 | 0W0 0F0 0B0\n");
  EXPECT_EQ(simulate(schedule, {}).status().message(),
            "schedule: rank 0 waits for 0B0 before its 0W0 (action 1): it cannot go on");
}

TEST(Timeline, SaysWhatNoListHolds) {
  PipelineSchedule schedule = written("microbatches 1\nrank 0 | 0F0 0BW0\nrank 1 | 1F0\n");
  EXPECT_THAT(
      simulate(schedule, {}).status().message(),
      HasSubstr(
          "rank 0 waits for 1B0 from rank 1 before its 0BW0 (action 2), which no action of rank 1 gives"));
}

} // namespace
} // namespace weft::schedules
