//===- LoadTest.cpp - Right run files -------------------------------------===//
//
// Values land in their members, defaults fill the rest, overrides win, and the resolved text loads as the
// same run.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/TestFolder.h"

#include "ConfigTestSupport.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace weft {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(LoadConfig, GivenValuesAndDefaults) {
  absl::StatusOr<LoadedConfig> loaded = loadSmall();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Config &config = loaded->config;
  EXPECT_EQ(config.model.hiddenSize, 64);
  EXPECT_EQ(config.model.numKeyValueHeads, 4) << "derived from num_attention_heads";
  EXPECT_EQ(config.model.headDim, 16) << "derived from hidden_size / num_attention_heads";
  EXPECT_EQ(config.model.ropeScaling.ropeType, RopeType::Default);
  EXPECT_EQ(config.optimizer.lr, 1e-3);
  EXPECT_EQ(config.optimizer.betas, (std::array<double, 2>{0.9, 0.95}));
  EXPECT_EQ(config.microBatches(), 8);
  EXPECT_EQ(config.launch.threads, std::nullopt);
  EXPECT_THAT(loaded->warnings, IsEmpty());
}

TEST(LoadConfig, PathsAreRelativeToTheRunFile) {
  absl::StatusOr<LoadedConfig> loaded =
      loadSmall({"data.train=[{path: ../text/a.txt}, {path: /b.txt, weight: 2}]"});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.data.train[0].path, "/text/a.txt");
  EXPECT_EQ(loaded->config.data.train[1].path, "/b.txt");
  EXPECT_EQ(loaded->config.data.train[1].weight, 2.0);
}

TEST(LoadConfig, FileGivesItsFolderToPaths) {
  TestFolder folder;
  absl::StatusOr<LoadedConfig> loaded = loadConfig(folder.write("run.yaml", smallRun));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.data.train[0].path, folder / "corpus.txt");
}

TEST(LoadConfig, EveryTypeOfValue) {
  absl::StatusOr<LoadedConfig> loaded =
      loadSmall({"model.tie_word_embeddings=true", "model.head_dim=null", "launch.threads=3",
                 "launch.memory_limit=1.5 GiB", "optimizer.betas=[0.8, 0]", "optimizer.no_decay=['*norm*']",
                 "train.dump.steps=[1, 10]",
                 "optimizer.groups=[{match: '*embed*', lr_scale: 0.5, weight_decay: 0}, {match: '*'}]",
                 "generate.prompt=\"a\\n\"", "lr_schedule.kind=inverse_sqrt", "train.seed=9007199254740992",
                 "optimizer.epsilon=+1e-6"});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Config &config = loaded->config;
  EXPECT_TRUE(config.model.tieWordEmbeddings);
  EXPECT_EQ(config.model.headDim, 16);
  EXPECT_EQ(config.launch.threads, 3);
  EXPECT_EQ(config.launch.memoryLimit, int64_t{3} << 29);
  EXPECT_EQ(config.optimizer.betas, (std::array<double, 2>{0.8, 0.0}));
  EXPECT_THAT(config.optimizer.noDecay, ElementsAre("*norm*"));
  EXPECT_THAT(config.train.dump.steps, ElementsAre(1, 10));
  ASSERT_EQ(config.optimizer.groups.size(), 2u);
  EXPECT_EQ(config.optimizer.groups[0].lrScale, 0.5);
  EXPECT_EQ(config.optimizer.groups[0].weightDecay, 0.0);
  EXPECT_EQ(config.optimizer.groups[1].weightDecay, std::nullopt);
  EXPECT_EQ(config.generate.prompt, "a\n");
  EXPECT_EQ(config.lrSchedule.kind, LrScheduleKind::InverseSqrt);
  EXPECT_EQ(config.train.seed, 9007199254740992);
  EXPECT_EQ(config.optimizer.epsilon, 1e-6);
}

TEST(LoadConfig, EmptySectionIsLeftAtItsDefaults) {
  absl::StatusOr<LoadedConfig> loaded = loadWith("eval:\nmetrics: {}\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.eval, EvalConfig());
}

TEST(LoadConfig, ProgramInsteadOfAFamilyNeedsNoSizes) {
  absl::StatusOr<LoadedConfig> loaded = loadText("model: {program: my.mlir}\n"
                                                 "data: {train: [{path: a}], sequence_length: 8}\n"
                                                 "optimizer: {lr: 1}\n"
                                                 "train: {steps: 1, micro_batch: 1, global_batch: 1}\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.model.program, "/runs/my.mlir");
  EXPECT_THAT(loaded->resolvedYaml(), Not(HasSubstr("hidden_size")));
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

TEST(UnusedKeys, AreReportedWithWhatWouldUseThem) {
  absl::StatusOr<LoadedConfig> loaded = loadWith("lr_schedule: {kind: cosine, decay_steps: 5}\n"
                                                 "precision: {loss_scale: {initial: 8}}\n"
                                                 "eval: {interval: 5}\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->warnings,
              ElementsAre("run.yaml:12: precision.loss_scale.initial: is not used here: it counts only with "
                          "precision.recipe = fp16.",
                          "run.yaml:11: lr_schedule.decay_steps: is not used here: it counts only with "
                          "lr_schedule.kind = wsd."));
}

TEST(UnusedKeys, OfEveryKindOfCondition) {
  absl::StatusOr<LoadedConfig> loaded = loadSmall(
      {"optimizer.momentum=0.5", "data.validation_fraction=0", "eval.batches=3", "train.dump.match=['*']",
       "generate.temperature=0", "generate.top_k=5", "model.program=m.mlir"});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::string all;
  for (const std::string &warning : loaded->warnings)
    all += warning + "\n";
  for (const char *expected :
       {"--set: optimizer.momentum: is not used here: it counts only with optimizer.kind = sgd.\n",
        "--set: eval.batches: is not used here: it counts only with data.validation_fraction > 0.\n",
        "--set: train.dump.match: is not used here: it counts only with train.dump.steps.\n",
        "--set: generate.top_k: is not used here: it counts only with generate.temperature > 0.\n",
        "run.yaml:1: model.hidden_size: is not used here: it counts only without model.program.\n"})
    EXPECT_THAT(all, HasSubstr(expected));
}

//===----------------------------------------------------------------------===//
// Overrides
//===----------------------------------------------------------------------===//

TEST(Overrides, WinOverTheFileAndMayAddSections) {
  absl::StatusOr<LoadedConfig> loaded = loadSmall({"train.steps=7", "lr_schedule.warmup_steps=2",
                                                   "data.train[0].weight=3", "optimizer={lr: 2, kind: sgd}"});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.train.steps, 7);
  EXPECT_EQ(loaded->config.train.microBatch, 4) << "the rest of the section stays";
  EXPECT_EQ(loaded->config.lrSchedule.warmupSteps, 2);
  EXPECT_EQ(loaded->config.data.train[0].weight, 3);
  EXPECT_EQ(loaded->config.data.train[0].path, "/runs/corpus.txt");
  EXPECT_EQ(loaded->config.optimizer.kind, OptimizerKind::Sgd);
}

TEST(Overrides, AllBadOnesAreReported) {
  EXPECT_EQ(errorOf(loadSmall({"train.steps", "a b", "train.seed=[1, 2"})),
            "--set train.steps: there is no `=`. Write --set section.key=value.\n"
            "--set a b: there is no `=`. Write --set section.key=value.\n"
            "--set train.seed: a map or list cannot be a key (is a bracket left open?). Keys are words.");
}

TEST(Overrides, BadOnesAreRefused) {
  EXPECT_EQ(errorOf(loadSmall({"train.steps"})),
            "--set train.steps: there is no `=`. Write --set section.key=value.");
  EXPECT_EQ(errorOf(loadSmall({"train.steps=3", "train={steps: 4}"})),
            "--set: train: is set twice. Keep one.");
  EXPECT_EQ(errorOf(loadSmall({"train..steps=3"})),
            "--set: train..steps: not a path. Write it as section.key, an element as data.train[0].path.");
  EXPECT_EQ(
      errorOf(loadSmall({"data.train[x].path=3"})),
      "--set: data.train[x].path: not a path. Write it as section.key, an element as data.train[0].path.");
  EXPECT_EQ(errorOf(loadSmall({"data.train[1].path=b"})),
            "--set: data.train[1].path: there is no element 1: train has 1, counted from 0.");
  EXPECT_EQ(errorOf(loadSmall({"train.steps.x=1"})),
            "--set: train.steps.x: leads through 100, which has no keys.");
  EXPECT_EQ(errorOf(loadSmall({"train.steps="})), "--set: train.steps: has no value. Expected an integer.");
  EXPECT_EQ(
      errorOf(loadSmall({"optimizer.betas=[1"})),
      "--set optimizer.betas: a map or list cannot be a key (is a bracket left open?). Keys are words.");
  EXPECT_EQ(errorOf(loadSmall({"train={steps: 1, steps: 2}"})),
            "--set train: the key steps is given twice. Keep one.");
}

//===----------------------------------------------------------------------===//
// The resolved text
//===----------------------------------------------------------------------===//

TEST(ResolvedYaml, NamesTheOriginOfEveryValue) {
  absl::StatusOr<LoadedConfig> loaded = loadSmall({"train.seed=5"});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::string text = loaded->resolvedYaml();
  EXPECT_THAT(text, HasSubstr("  vocab_size: 512                                 # run.yaml:2\n"));
  EXPECT_THAT(text,
              HasSubstr("  head_dim: 16                                    # default: model.hidden_size / "
                        "model.num_attention_heads\n"));
  EXPECT_THAT(text, HasSubstr("    - path: \"/runs/corpus.txt\"                    # run.yaml:5\n"
                              "      weight: 1                                   # default\n"));
  EXPECT_THAT(text, HasSubstr("  seed: 5                                         # --set\n"));
  EXPECT_THAT(text, HasSubstr("    factor: 0                                     # default\n"));
  EXPECT_THAT(text, Not(HasSubstr("momentum"))) << "what does not count is left out";
}

TEST(ResolvedYaml, LoadsAsTheSameRunWithoutWarnings) {
  const std::vector<Overrides> runs = {
      {},
      {"lr_schedule={kind: wsd, decay_steps: 10}", "precision.recipe=fp16", "data.validation_fraction=0"},
      {"model.rope_scaling={rope_type: yarn, factor: 4, mscale: 0.7}", "model.num_key_value_heads=2"},
      {"generate.prompt=\"a\\n\\t\\\"#: \\\\ \\x01 ö\"",
       "optimizer.groups=[{match: '[a]*'}, {match: b, weight_decay: 0.1}]"},
      {"launch={threads: 2, memory_limit: 1000000001, instruction_set: avx2}",
       "optimizer.lr=0.1234567890123456789"},
      {"model.program=a b.mlir", "train.dump.steps=[2,3]", "train.spike.factor=3", "optimizer.kind=lion"}};
  for (const Overrides &overrides : runs) {
    absl::StatusOr<LoadedConfig> first = loadSmall(overrides);
    ASSERT_TRUE(first.ok()) << first.status();
    absl::StatusOr<LoadedConfig> second = loadConfigText(first->resolvedYaml(), "config.yaml", "/elsewhere");
    ASSERT_TRUE(second.ok()) << second.status() << "\n" << first->resolvedYaml();
    EXPECT_THAT(second->warnings, IsEmpty());
    EXPECT_EQ(std::string(second->resolvedYaml().substr(0, 20)), first->resolvedYaml().substr(0, 20));
    // Keys that do not count are at their defaults in the second.
    absl::StatusOr<LoadedConfig> third = loadConfigText(second->resolvedYaml(), "config.yaml", "/elsewhere");
    ASSERT_TRUE(third.ok());
    EXPECT_EQ(third->config, second->config);
    if (overrides.empty() || overrides[0].find("program") == std::string::npos)
      EXPECT_EQ(second->config, first->config) << first->resolvedYaml();
  }
}

} // namespace weft
