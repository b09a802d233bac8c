//===- PlanPipelineTest.cpp - A config's stages and schedule ----------------===//
//
// Whatever a run file may say of its pipeline becomes a verified schedule with a layout of as many stages; a
// file of the user's own must fit the run.
//
//===----------------------------------------------------------------------===//
#include "compiler/schedule/PlanPipeline.h"
#include "passes/pipeline/schedules/Generators.h"

#include "Written.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace weft {
namespace {

using namespace schedules;

/// A run with so many microbatches, of one sample each.
Config runOf(const PipelineConfig &pipeline, int64_t microbatches) {
  Config config;
  config.parallel.pipeline = pipeline;
  config.train.microBatch = 1;
  config.train.globalBatch = microbatches;
  return config;
}

std::string refusal(const Config &config, int64_t layers) {
  absl::StatusOr<PipelinePlan> plan = planPipeline(config, layers);
  return plan.ok() ? "(no error)" : std::string(plan.status().message());
}

class PlanFromFile : public ::testing::Test {
protected:
  /// Writes a schedule; returns what a config calls it.
  std::string fileOf(const std::string &text) {
    std::ofstream(path) << text;
    return "file:" + path;
  }
  void TearDown() override { std::filesystem::remove(path); }

  std::string path = ::testing::TempDir() + "/plan_pipeline_test.schedule";
};

TEST(PlanPipeline, EveryScheduleHasAStageForEachOfItsActions) {
  for (const ScheduleKind &kind : scheduleKinds())
    for (int64_t ranks : {2, 3, 8}) {
      absl::StatusOr<PipelinePlan> plan =
          planPipeline(runOf({ranks, std::string(kind.name), "auto"}, 16), 20);
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_EQ(plan->schedule.ranks, ranks);
      EXPECT_EQ(plan->schedule.microbatches, 16);
      EXPECT_EQ(plan->schedule.stages(), std::ssize(plan->layout.stages));
    }
}

TEST(PlanPipeline, TheLayoutSaysHowManyStagesThereAre) {
  EXPECT_EQ(planPipeline(runOf({2, "interleaved", "6"}, 4), 8)->schedule.chunks, 3);
  const absl::StatusOr<PipelinePlan> v = planPipeline(runOf({2, "auto", "E t | t*2 | t*2 | t L"}, 4), 6);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(v->schedule.layout, schedules::StageLayout::V);
  EXPECT_EQ(v->layout.text(), "E t | t*2 | t*2 | t L");
  EXPECT_EQ(planPipeline(runOf({2, "auto", "auto"}, 4), 6)->schedule.chunks, 1);
}

TEST(PlanPipeline, RefusesLayersThatDoNotFill) {
  EXPECT_EQ(refusal(runOf({4, "1f1b", "auto"}, 4), 1),
            "parallel.pipeline.size: 4 ranks with 1 stage each (schedule 1f1b) are 4 stages, and 1 layer "
            "make at most "
            "3: embedding and head count as one each. Works: parallel.pipeline.size: 3 or less, or a model "
            "of 2 layers "
            "or more.");
  EXPECT_EQ(refusal(runOf({2, "1f1b", "E t | t L"}, 4), 3),
            "parallel.pipeline.layout: has 2 layers, the model 3. Works: auto, 2, or \"E t*2 | t L\".");
}

TEST_F(PlanFromFile, SaysItsOwnStages) {
  const std::string file = fileOf(printSchedule(*generateSchedule("interleaved", {2, 4, 3})));
  const absl::StatusOr<PipelinePlan> plan = planPipeline(runOf({2, file, "auto"}, 4), 4);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->layout.text(), "E | t | t | t | t | L");
  EXPECT_EQ(plan->schedule.actions, generateSchedule("interleaved", {2, 4, 3})->actions);
}

TEST_F(PlanFromFile, MustFitTheRun) {
  const std::string file = fileOf(printSchedule(*generateSchedule("1f1b", {2, 4})));
  const std::string start = "parallel.pipeline.schedule: " + path + " has ";
  EXPECT_EQ(
      refusal(runOf({3, file, "auto"}, 4), 6),
      start +
          "2 ranks, the run 3 (parallel.pipeline.size). Works: parallel.pipeline.size: 2, or a file for 3.");
  EXPECT_EQ(refusal(runOf({2, file, "auto"}, 5), 6),
            start + "4 microbatches, the run 5 (train.global_batch / (micro_batch x data ranks)). Works: "
                    "train.global_batch: 4, or a file for 5.");
  EXPECT_EQ(
      refusal(runOf({2, file, "4"}, 4), 6),
      start +
          "2 stages, the run 4 (parallel.pipeline.layout). Works: layout: auto, layout: 2, or a file for 4.");
  EXPECT_EQ(refusal(runOf({2, file, "auto"}, 4), 6), "(no error)");
}

TEST_F(PlanFromFile, IsReadAndVerified) {
  EXPECT_EQ(
      refusal(runOf({2, "file:/no/such", "auto"}, 4), 6).rfind("parallel.pipeline.schedule: /no/such", 0),
      0u);
  const std::string file = fileOf("microbatches 2\nrank 0 | 0F0 0BW0\nrank 1 | 1F0 1BW0 1F1 1BW1\n");
  EXPECT_NE(refusal(runOf({2, file, "auto"}, 2), 6).find("0F1"), std::string::npos)
      << refusal(runOf({2, file, "auto"}, 2), 6);
}

} // namespace
} // namespace weft
