// The bubble that a pipeline's order has by itself, against the formulas of the literature.
#include "runtime/train/StageReplay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using enum StageAction;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr int64_t kTimes[] = {10, 20, 5, 25}; ///< of F, B, W, BW

StageRun run(StageAction action, int32_t stage, int64_t microbatch, int64_t more = 0) {
  return {action, stage, microbatch, kTimes[static_cast<size_t>(action)] + more};
}

TEST(StageReplay, OneForwardOneBackward) {
  const std::vector<std::vector<StageRun>> ranks = {
      {run(F, 0, 0), run(F, 0, 1), run(BW, 0, 0), run(BW, 0, 1)},
      {run(F, 1, 0), run(BW, 1, 0), run(F, 1, 1), run(BW, 1, 1)}};
  // (p - 1)(F + BW) of the first rank's m (F + BW) and itself; the last rank never waits.
  EXPECT_THAT(*replayedBubbles(ranks), ElementsAre(DoubleNear(1.0 / 3, 1e-12), DoubleNear(0, 1e-12)));
}

TEST(StageReplay, MeansCountAndNotWhatOneRunTook) {
  const std::vector<std::vector<StageRun>> ranks = {
      {run(F, 0, 0, 7), run(F, 0, 1, -7), run(BW, 0, 0), run(BW, 0, 1)},
      {run(F, 1, 0), run(BW, 1, 0, -20), run(F, 1, 1), run(BW, 1, 1, 20)}};
  EXPECT_THAT(*replayedBubbles(ranks), ElementsAre(DoubleNear(1.0 / 3, 1e-12), DoubleNear(0, 1e-12)));
}

TEST(StageReplay, WeightsFillWhatBackwardsLeave) {
  const std::vector<std::vector<StageRun>> ranks = {
      {run(F, 0, 0), run(F, 0, 1), run(B, 0, 0), run(W, 0, 0), run(B, 0, 1), run(W, 0, 1)},
      {run(F, 1, 0), run(B, 1, 0), run(F, 1, 1), run(B, 1, 1), run(W, 1, 0), run(W, 1, 1)}};
  // Rank 1: F 10..20, B 20..40, F 40..50, B 50..70, W, W to 80. Rank 0: F, F to 20, B 40..60, W to 65,
  // B 70..90, W to 95.
  EXPECT_THAT(*replayedBubbles(ranks), ElementsAre(DoubleNear(25.0 / 95, 1e-12), DoubleNear(0, 1e-12)));
}

TEST(StageReplay, ChunksOfOneRankWaitForEachOther) {
  // A V: rank 0 has stages 0 and 3, rank 1 has 1 and 2.
  const std::vector<std::vector<StageRun>> ranks = {
      {run(F, 0, 0), run(F, 3, 0), run(BW, 3, 0), run(BW, 0, 0)},
      {run(F, 1, 0), run(F, 2, 0), run(BW, 2, 0), run(BW, 1, 0)}};
  EXPECT_THAT(*replayedBubbles(ranks),
              ElementsAre(DoubleNear(70.0 / 140, 1e-12), DoubleNear(35.0 / 105, 1e-12)));
}

TEST(StageReplay, AnOrderThatNeverEndsHasNone) {
  const std::vector<std::vector<StageRun>> ranks = {{run(F, 0, 1)}, {run(F, 1, 0)}};
  EXPECT_FALSE(replayedBubbles(ranks).has_value());
}

TEST(StageReplay, NoStagesHaveNoBubble) {
  const std::vector<std::vector<StageRun>> ranks(2);
  EXPECT_THAT(*replayedBubbles(ranks), ElementsAre(0, 0));
}

TEST(StageReplay, RunsAreThoseOfStages) {
  Program step;
  step.commands.resize(1);
  step.actions = {
      {"prepare", false, 0, 1}, {"12BW", true, 0, 1}, {"12BW.send", true, 0, 1}, {"0W", true, 0, 1}};
  step.schedule = {{0, kNone}, {1, 3}, {2, 3}, {3, 0}};
  RunTimes times(step);
  std::span<int64_t> room = times.room();
  for (size_t i = 0; i < room.size(); ++i)
    room[i] = static_cast<int64_t>(i * i);
  EXPECT_THAT(stageRuns(times), ElementsAre(StageRun{BW, 12, 3, 9 - 4}, StageRun{W, 0, 0, 49 - 36}));
}

} // namespace
} // namespace weft
