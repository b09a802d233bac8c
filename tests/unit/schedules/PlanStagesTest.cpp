//===- PlanStagesTest.cpp - A config's stages beside its schedule -----------===//
//
// Whatever a run file says of its pipeline becomes as many stages as the schedule has; a file of the user's
// own must fit the run.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/TestFolder.h"

#include "compiler/schedule/PlanStages.h"
#include "passes/pipeline/schedules/ResolveSchedule.h"

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
  absl::StatusOr<weft::StageLayout> layout = planStages(config, layers);
  return layout.ok() ? "(no error)" : std::string(layout.status().message());
}

class StagesOfFile : public ::testing::Test {
protected:
  /// Writes a schedule; returns what a config calls it.
  std::string fileOf(const std::string &text) { return "file:" + folder.write("stages.schedule", text); }

  TestFolder folder;
};

TEST(PlanStages, EveryScheduleHasAStageForEachOfItsActions) {
  std::vector<std::string> words = {"auto"};
  for (const ScheduleKind &kind : scheduleKinds())
    words.emplace_back(kind.name);
  for (const std::string &word : words)
    for (int ranks : {2, 3, 8}) {
      absl::StatusOr<weft::StageLayout> layout = planStages(runOf({ranks, word, "auto"}, 16), 20);
      ASSERT_TRUE(layout.ok()) << layout.status();
      const absl::StatusOr<ResolvedSchedule> resolved = resolveSchedule(word, {{ranks, 16}, {}, {}});
      ASSERT_TRUE(resolved.ok()) << resolved.status();
      EXPECT_EQ(std::ssize(layout->stages), resolved->schedule.stages()) << word;
    }
}

TEST(PlanStages, RefusesLayersThatDoNotFill) {
  EXPECT_EQ(refusal(runOf({4, "1f1b", "auto"}, 4), 1),
            "parallel.pipeline.size: 4 ranks with 1 stage each (schedule 1f1b) are 4 stages, and 1 layer "
            "makes at most "
            "3: embedding and head count as one each. Works: parallel.pipeline.size: 3 or less, or a model "
            "of 2 layers "
            "or more.");
  EXPECT_EQ(refusal(runOf({2, "1f1b", "E t | t L"}, 4), 3),
            "parallel.pipeline.layout: has 2 layers, the model 3. Works: auto, 2, or \"E t*2 | t L\".");
}

TEST_F(StagesOfFile, AreAsManyAsItSays) {
  const std::string file = fileOf(printSchedule(*generateSchedule("interleaved", {2, 4, 3})));
  absl::StatusOr<weft::StageLayout> layout = planStages(runOf({2, file, "auto"}, 4), 4);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->text(), "E | t | t | t | t | L");
  EXPECT_EQ(planStages(runOf({2, file, "E t | t | t | t | t | t L"}, 4), 6)->text(),
            "E t | t | t | t | t | t L");
  EXPECT_EQ(
      refusal(runOf({2, file, "auto"}, 4), 3),
      "parallel.pipeline.size: 2 ranks with 3 stages each (schedule file:" + (folder / "stages.schedule") +
          ") are 6 stages, and 3 layers make at most 5: embedding and head count as one each. Works: "
          "a schedule with 1 stage a rank (gpipe, 1f1b, zb_h1, zb_h2), or a model of 4 layers or more.");
}

TEST_F(StagesOfFile, MustFitTheRun) {
  const std::string file = fileOf(printSchedule(*generateSchedule("1f1b", {2, 4})));
  const std::string start = "parallel.pipeline.schedule: " + (folder / "stages.schedule") + " has ";
  EXPECT_EQ(
      refusal(runOf({3, file, "auto"}, 4), 6),
      start +
          "2 ranks, the run 3 (parallel.pipeline.size). Works: parallel.pipeline.size: 2, or a file for 3.");
  EXPECT_EQ(refusal(runOf({2, file, "auto"}, 5), 6),
            start + "4 microbatches, the run 5 (train.global_batch / (micro_batch x data ranks)). Works: "
                    "train.global_batch: 4, or a file for 5.");
  EXPECT_EQ(
      refusal(runOf({2, file, "4"}, 4), 6),
      start + "2 stages, the run 4 (parallel.pipeline.layout). Works: parallel.pipeline.layout: 2, or a file "
              "for 4.");
  EXPECT_EQ(refusal(runOf({2, file, "auto"}, 4), 6), "(no error)");
}

TEST_F(StagesOfFile, AreThoseOfAVerifiedSchedule) {
  EXPECT_EQ(
      refusal(runOf({2, "file:/no/such", "auto"}, 4), 6).rfind("parallel.pipeline.schedule: /no/such", 0),
      0u);
  const std::string file = fileOf("microbatches 2\nrank 0 | 0F0 0F1 0BW0 0F1\nrank 1 | 1F0 1BW0 1F1 1BW1\n");
  EXPECT_NE(refusal(runOf({2, file, "auto"}, 2), 6).find("0F1"), std::string::npos)
      << refusal(runOf({2, file, "auto"}, 2), 6);
}

} // namespace
} // namespace weft
