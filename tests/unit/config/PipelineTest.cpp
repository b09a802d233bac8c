//===- PipelineTest.cpp - Stages on ranks, and what cannot be ---------------===//
//
// The small run has 2 layers, hence at most 4 stages, and 8 microbatches of 4 samples; most tests here give
// it 14 layers. Line 11 is the first after it.
//
//===----------------------------------------------------------------------===//
#include "ConfigTestSupport.h"

#include "runtime/config/ConfigMesh.h"
#include "runtime/config/ResumeComparison.h"
#include "runtime/config/StageLayout.h"
#include "runtime/support/ScheduleShape.h"

namespace weft {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The small run with 14 layers and `parallel.pipeline`.
static absl::StatusOr<LoadedConfig> loadPipeline(const std::string &pipeline, Overrides overrides = {}) {
  overrides.push_back("model.num_hidden_layers=14");
  overrides.push_back("parallel.pipeline=" + pipeline);
  return loadSmall(overrides);
}

static Config configOf(const std::string &pipeline, const Overrides &overrides = {}) {
  absl::StatusOr<LoadedConfig> loaded = loadPipeline(pipeline, overrides);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? loaded->config : Config();
}

static std::string errorWith(const std::string &pipeline, const Overrides &overrides = {}) {
  return errorOf(loadPipeline(pipeline, overrides));
}

TEST(Pipeline, IsOneRankUnlessTheFileSaysMore) {
  absl::StatusOr<LoadedConfig> loaded = loadSmall();
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->config.parallel.pipeline, (PipelineConfig{1, "1f1b", "auto"}));
  EXPECT_THAT(loaded->resolvedYaml(), HasSubstr("  pipeline:\n    size: 1  "));
}

TEST(Pipeline, RanksAreTheProduct) {
  const Config config = configOf("{size: 4}", {"parallel.data_shard=2", "parallel.tensor=2"});
  EXPECT_EQ(config.parallel.ranks(), 16);
  EXPECT_EQ(config.parallel.dataRanks(), 2) << "the ranks of a pipeline read the same samples";
  EXPECT_EQ(config.microBatches(), 4);
  EXPECT_EQ(configOf("{size: 4}", {"parallel.data_shard=-1", "launch.ranks=16"}).parallel.dataShard, 4);
  EXPECT_EQ(
      errorWith("{size: 4}", {"parallel.data_shard=-1", "launch.ranks=6"}),
      "--set: launch.ranks: 6 is no multiple of data_replicate x tensor x pipeline.size (1 x 1 x 4 = 4), and "
      "data_shard is what is left. Works: 4 or 8.");
  EXPECT_EQ(errorWith("{size: 4}", {"parallel.context.size=2", "launch.ranks=4"}),
            "--set: launch.ranks: 4 is not data_replicate x data_shard x tensor x context.size x "
            "pipeline.size (1 x "
            "1 x 1 x 2 x 4 = 8). Works: 8, auto.");
}

TEST(Pipeline, ResolvedTextsLoadAgain) {
  for (const char *pipeline :
       {"{size: 4, schedule: zb_h1, layout: E t*2 | t*4 | t*4 | t*4 L}",
        "{size: 2, schedule: interleaved, layout: 6}", "{size: 4, schedule: auto, layout: 8}",
        "{size: 4, schedule: 'file:my schedules/a.txt'}"}) {
    absl::StatusOr<LoadedConfig> loaded = loadPipeline(pipeline);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_THAT(loaded->warnings, IsEmpty());
    absl::StatusOr<LoadedConfig> again =
        loadConfigText(loaded->resolvedYaml(), "resolved.yaml", "/elsewhere", {});
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->config, loaded->config) << loaded->resolvedYaml();
  }
  EXPECT_EQ(configOf("{size: 4, schedule: 'file:my schedules/a.txt'}").parallel.pipeline.schedule,
            "file:/runs/my schedules/a.txt")
      << "relative to the run file";
  EXPECT_THAT(loadPipeline("{size: 4, layout: 4}")->resolvedYaml(),
              testing::AllOf(HasSubstr("    schedule: 1f1b  "), HasSubstr("    layout: 4  ")));
}

TEST(Pipeline, AxesAreTheFirstAndPrime) {
  const Mesh mesh = meshOf(configOf("{size: 6}", {"parallel={data_replicate: 2, data_shard: 2, tensor: 2}"}));
  std::vector<std::string> axes;
  for (const MeshAxis &axis : mesh.axes)
    axes.push_back(axis.name + "=" + std::to_string(axis.size));
  EXPECT_THAT(axes, ElementsAre("p0=3", "p1=2", "r0=2", "d0=2", "t0=2"));
  EXPECT_THAT(mesh.axesOf("pipeline"), ElementsAre(0, 1));
  EXPECT_THAT(mesh.axesOf("data"), ElementsAre(2, 3));
  // rank = pipeline index x (ranks per stage) + inner
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    EXPECT_EQ(mesh.indexOf(rank, mesh.axesOf("pipeline")), rank / 8);
    EXPECT_EQ(mesh.indexOf(rank, std::vector<uint32_t>{2, 3, 4}), rank % 8);
  }
  EXPECT_THAT(mesh.group(11, mesh.axesOf("pipeline")), ElementsAre(3, 11, 19, 27, 35, 43));
  EXPECT_EQ(meshOf(configOf("{size: 1}", {"parallel.tensor=2"})).roles.size(), 4u) << "no role without ranks";
}

TEST(Pipeline, MayChangeOnResumeAndNoBitDoes) {
  const std::vector<ResumeDifference> differences =
      compareForResume(configOf("{size: 1}"), configOf("{size: 4, schedule: zb_h1}"));
  EXPECT_TRUE(refusalOf(differences, "step-300").ok());
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[0].message("step-300"), "resume: parallel.pipeline.size is 4 in this run and 1 in "
                                                "checkpoint step-300: no bit changes: a pipeline "
                                                "says who computes what, and when.");
  EXPECT_EQ(differences[1].current, "zb_h1");
  EXPECT_EQ(differences[2].path, "parallel.pipeline.layout");
}

TEST(PipelineUnused, IsReportedWithWhatWouldUseIt) {
  EXPECT_THAT(loadPipeline("{schedule: zb_h1, layout: 3}")->warnings,
              ElementsAre("--set: parallel.pipeline.schedule: is not used here: it counts only with "
                          "parallel.pipeline.size > 1.",
                          "--set: parallel.pipeline.layout: is not used here: it counts only with "
                          "parallel.pipeline.size > 1."));
}

TEST(Pipeline, CanonicalSumsAndProgramsTakeIt) {
  EXPECT_EQ(configOf("{size: 4}", {"train.reduction=canonical", "parallel.data_shard=2"}).parallel.ranks(),
            8);
  absl::StatusOr<LoadedConfig> program = loadText("model: {program: m.mlir}\n"
                                                  "data: {train: [{path: c.txt}], sequence_length: 32}\n"
                                                  "optimizer: {lr: 0.1}\n"
                                                  "train: {steps: 1, micro_batch: 1, global_batch: 4}\n"
                                                  "parallel: {pipeline: {size: 8}}\n");
  EXPECT_TRUE(program.ok()) << program.status() << ": how many layers it has is seen when it is compiled";
}

//===----------------------------------------------------------------------===//
// What cannot be
//===----------------------------------------------------------------------===//

TEST(PipelineRefused, SchedulesThatNobodyKnows) {
  EXPECT_EQ(errorWith("{size: 4, schedule: zbv}"),
            "--set: parallel.pipeline.schedule: no such choice: zbv. Did you mean zb_v? Works: gpipe, 1f1b, "
            "interleaved, zb_h1, zb_h2, zb_v, v_half, v_min, dualpipe_v, auto, or file:PATH.");
  EXPECT_EQ(errorWith("{size: 4, schedule: 'file:'}"),
            "--set: parallel.pipeline.schedule: expected a path, got an empty text.");
  EXPECT_EQ(errorWith("{size: 5000}"),
            "--set: parallel.pipeline.size: 5000 is out of range. Works: 1 to 4096.");
}

TEST(PipelineRefused, LayoutsThatCannotBeRead) {
  EXPECT_EQ(
      errorOf(loadWith("parallel: {pipeline: {size: 2, layout: \"E t | t\"}}\n")),
      "run.yaml:11: parallel.pipeline.layout: column 8: L, the final norm and head, is missing at the end. "
      "Works: auto, 2, or \"E t | t L\".");
  EXPECT_EQ(
      errorWith("{size: 4, layout: E t*3 | t*4 x | t*4 | t*3 L}"),
      "--set: parallel.pipeline.layout: column 13: 'x' is no part of a layout: those are E (embedding), t or "
      "t*3 (layers), | (a border), L (norm and head). Works: auto, 4, or \"E t*3 | t*4 | t*4 | t*3 L\".");
  EXPECT_EQ(
      errorWith("{size: 4, layout: 0}"),
      "--set: parallel.pipeline.layout: 0 is no number of stages: there are 1 to 16384. Works: auto, 4, or "
      "\"E t*3 | t*4 | t*4 | t*3 L\".");
}

TEST(PipelineRefused, LayersThatAreNotTheModels) {
  EXPECT_EQ(errorWith("{size: 4, layout: E t*3 | t*4 | t*4 | t*2 L}"),
            "--set: parallel.pipeline.layout: has 13 layers, the model 14. Works: auto, 4, or \"E t*3 | t*4 "
            "| t*4 | "
            "t*3 L\".");
  EXPECT_EQ(
      errorWith("{size: 2, layout: E t*8 | t*8 L}"),
      "--set: parallel.pipeline.layout: has 16 layers, the model 14. Works: auto, 2, or \"E t*7 | t*7 L\".");
}

TEST(PipelineRefused, StagesThatRanksCannotShare) {
  EXPECT_EQ(
      errorWith("{size: 4, schedule: interleaved, layout: 6}"),
      "--set: parallel.pipeline.layout: has 6 stages, which 4 ranks (parallel.pipeline.size) cannot share. "
      "Works: auto, 8, or \"E t | t*2 | t*2 | t*2 | t*2 | t*2 | t*2 | t L\".");
  EXPECT_EQ(
      errorWith("{size: 4, layout: E t*14 L}"),
      "--set: parallel.pipeline.layout: has 1 stage, which 4 ranks (parallel.pipeline.size) cannot share. "
      "Works: auto, 4, or \"E t*3 | t*4 | t*4 | t*3 L\".");
}

TEST(PipelineRefused, StagesThatTheScheduleDoesNotTake) {
  EXPECT_EQ(errorWith("{size: 4, schedule: zb_h1, layout: 8}"),
            "--set: parallel.pipeline.layout: has 2 stages a rank, which schedule zb_h1 does not take; "
            "interleaved, "
            "zb_v, v_half, v_min, dualpipe_v would. Works: auto, 4, or \"E t*3 | t*4 | t*4 | t*3 L\".");
  EXPECT_EQ(
      errorWith("{size: 4, schedule: zb_v, layout: 4}"),
      "--set: parallel.pipeline.layout: has 1 stage a rank, which schedule zb_v does not take; gpipe, 1f1b, "
      "zb_h1, zb_h2 would. Works: auto, 8, or \"E t | t*2 | t*2 | t*2 | t*2 | t*2 | t*2 | t L\".");
  EXPECT_EQ(
      errorWith("{size: 2, schedule: interleaved, layout: 2}"),
      "--set: parallel.pipeline.layout: has 1 stage a rank, which schedule interleaved does not take; gpipe, "
      "1f1b, zb_h1, zb_h2 would. Works: auto, 4, or \"E t*3 | t*4 | t*4 | t*3 L\".");
  EXPECT_THAT(
      errorWith("{size: 2, schedule: auto, layout: 6}"),
      HasSubstr(
          "has 3 stages a rank, which schedule auto does not take; interleaved would. Works: auto, 4, "));
}

TEST(PipelineRefused, MoreStagesThanTheModelHasParts) {
  EXPECT_EQ(
      errorOf(loadSmall({"parallel.pipeline.size=8"})),
      "--set: parallel.pipeline.size: 8 ranks with 1 stage each (schedule 1f1b) are 8 stages, and 2 layers "
      "make at most 4: embedding and head count as one each. Works: parallel.pipeline.size: 4 or less, or a "
      "model of 6 layers or more.");
  EXPECT_EQ(
      errorWith("{size: 16, schedule: zb_v}"),
      "--set: parallel.pipeline.size: 16 ranks with 2 stages each (schedule zb_v) are 32 stages, and 14 "
      "layers "
      "make at most 16: embedding and head count as one each. Works: parallel.pipeline.size: 8 or less, a "
      "schedule with 1 stage a rank (gpipe, 1f1b, zb_h1, zb_h2), or a model of 30 layers or more.");
  EXPECT_EQ(
      errorWith("{size: 4, schedule: interleaved, layout: 20}"),
      "--set: parallel.pipeline.layout: has 20 stages, and 14 layers make at most 16: embedding and head "
      "count "
      "as one each. Works: auto, 16, or \"E | t | t | t | t | t | t | t | t | t | t | t | t | t | t | L\".");
}

TEST(PipelineRefused, FewerMicrobatchesThanTheScheduleNeeds) {
  EXPECT_EQ(errorWith("{size: 4, schedule: dualpipe_v}", {"train.micro_batch=8"}),
            "--set: parallel.pipeline.schedule: dualpipe_v on 4 ranks needs 8 microbatches, and a step has 4 "
            "(train.global_batch 32 / (micro_batch 8 x 1 data ranks)). Works: train.micro_batch: 4, "
            "train.global_batch: 64 or more, or a schedule that takes any number, such as zb_v.");
  EXPECT_EQ(
      errorWith("{size: 4, schedule: dualpipe_v}", {"train.micro_batch=1", "train.global_batch=6"}),
      "--set: parallel.pipeline.schedule: dualpipe_v on 4 ranks needs 8 microbatches, and a step has 6 "
      "(train.global_batch 6 / (micro_batch 1 x 1 data ranks)). Works: train.global_batch: 8 or more, or a "
      "schedule that takes any number, such as zb_v.");
  EXPECT_EQ(
      configOf("{size: 4, schedule: zb_v}", {"train.micro_batch=1", "train.global_batch=1"}).microBatches(),
      1);
}

/// What works in a run file is what the generators take, but for the one stage of `interleaved`, which is
/// 1f1b.
TEST(PipelineRefused, WhatTheGeneratorsRefuse) {
  int accepted = 0, refused = 0;
  for (const schedules::ScheduleDemands &demands : schedules::scheduleDemands())
    for (int ranks : {2, 3, 4, 8})
      for (int stages = 1; stages <= 3; ++stages)
        for (int microbatches : {1, 3, 8, 16}) {
          const Overrides batches = {"train.micro_batch=1",
                                     "train.global_batch=" + std::to_string(microbatches),
                                     "model.num_hidden_layers=22"};
          const std::string pipeline = "{size: " + std::to_string(ranks) +
                                       ", schedule: " + std::string(demands.name) +
                                       ", layout: " + std::to_string(ranks * stages) + "}";
          Overrides overrides = batches;
          overrides.push_back("parallel.pipeline=" + pipeline);
          const bool works = loadSmall(overrides).ok();
          const bool isOneOfInterleaved = demands.hasAnyChunks && stages == 1;
          EXPECT_EQ(works, checkShape(demands, {ranks, microbatches, stages}).ok() && !isOneOfInterleaved)
              << pipeline << ", " << microbatches << " microbatches";
          ++(works ? accepted : refused);
        }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

} // namespace weft
