//===- ResumeTest.cpp - What may change since the checkpoint --------------===//
#include "ConfigTestSupport.h"

#include "runtime/config/ResumeComparison.h"

namespace weft {

using testing::IsEmpty;

static Config small(const Overrides &overrides = {}) {
  absl::StatusOr<LoadedConfig> loaded = loadSmall(overrides);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? loaded->config : Config();
}

/// The messages of all differences, one a line.
static std::string messages(const Config &saved, const Config &current) {
  std::string all;
  for (const ResumeDifference &difference : compareForResume(saved, current))
    all += (difference.allowed ? "allowed: " : "refused: ") + difference.message("step-300") + "\n";
  return all;
}

TEST(Resume, UnchangedRunHasNoDifferences) {
  EXPECT_THAT(compareForResume(small(), small()), IsEmpty());
  EXPECT_TRUE(refusalOf(compareForResume(small(), small()), "step-300").ok());
}

TEST(Resume, ChangedSeedIsRefusedWithTheValueToGoBackTo) {
  std::vector<ResumeDifference> differences = compareForResume(small(), small({"train.seed=2"}));
  absl::Status status = refusalOf(differences, "step-300");
  EXPECT_EQ(exitCodeOf(status), ExitCode::Config);
  EXPECT_EQ(status.message(),
            "resume: train.seed is 2 in this run and 1 in checkpoint step-300: the data order would "
            "change. Use --set train.seed=1, or start a new run.");
}

TEST(Resume, StepsLearningRateAndIntervalsMayChange) {
  Config changed = small({"train.steps=200", "optimizer.lr=0.5", "checkpoint.interval=7"});
  EXPECT_EQ(messages(small(), changed),
            "allowed: resume: optimizer.lr is 0.5 in this run and 0.001 in checkpoint step-300.\n"
            "allowed: resume: train.steps is 200 in this run and 100 in checkpoint step-300: the rest of the "
            "learning-rate schedule follows the new length.\n"
            "allowed: resume: checkpoint.interval is 7 in this run and 100 in checkpoint step-300.\n");
  EXPECT_TRUE(refusalOf(compareForResume(small(), changed), "step-300").ok());
}

TEST(Resume, ModelIsRefused) {
  EXPECT_EQ(
      messages(small(), small({"model.hidden_size=128", "model.head_dim=16"})),
      "refused: resume: model.hidden_size is 128 in this run and 64 in checkpoint step-300: the checkpoint's "
      "parameters belong to another model. Use --set model.hidden_size=64, or start a new run.\n");
}

TEST(Resume, DataMayMoveButNotBeWeighedAnew) {
  EXPECT_EQ(
      messages(small(), small({"data.train[0]={path: /moved/corpus.txt, weight: 2}"})),
      "allowed: resume: data.train[0].path is \"/moved/corpus.txt\" in this run and \"/runs/corpus.txt\" in "
      "checkpoint step-300: its content must be that of the checkpoint's run: checksums are compared.\n"
      "refused: resume: data.train[0].weight is 2 in this run and 1 in checkpoint step-300: the samples of "
      "each "
      "step would be others. Use --set 'data.train[0].weight=1', or start a new run.\n");
}

TEST(Resume, TheSourcesOfAStageMayMoveToo) {
  auto stages = [](const std::string &tokens, const std::string &path) {
    return small(
        {"data.stages=[{tokens: " + tokens + ", train: [{path: " + path + "}]}, {train: [{path: /b}]}]"});
  };
  EXPECT_EQ(
      messages(stages("800", "/a"), stages("900", "/moved/a")),
      "refused: resume: data.stages[0].tokens is 900 in this run and 800 in checkpoint step-300: the "
      "samples of each step would be others. Use --set 'data.stages[0].tokens=800', or start a new run.\n"
      "allowed: resume: data.stages[0].train[0].path is \"/moved/a\" in this run and \"/a\" in "
      "checkpoint step-300: its content must be that of the checkpoint's run: checksums are compared.\n");
}

TEST(Resume, AnotherNumberOfSourcesIsRefused) {
  EXPECT_EQ(
      messages(small(), small({"data.train=[{path: a}, {path: b}]"})),
      "refused: resume: data.train is [{path: \"/runs/a\", weight: 1}, {path: \"/runs/b\", weight: 1}] in "
      "this run "
      "and [{path: \"/runs/corpus.txt\", weight: 1}] in checkpoint step-300: the samples of each step would "
      "be "
      "others. Use --set 'data.train=[{path: \"/runs/corpus.txt\", weight: 1}]', or start a new run.\n");
}

TEST(Resume, KeysThatBeginToCountAreNamed) {
  EXPECT_EQ(messages(small(), small({"lr_schedule={kind: wsd, decay_steps: 10}"})),
            "allowed: resume: lr_schedule.kind is wsd in this run and constant in checkpoint step-300: the "
            "rest of the "
            "schedule has the new shape.\n"
            "allowed: resume: lr_schedule.min_lr_ratio is 0 in this run and not used in checkpoint step-300: "
            "the rest of "
            "the schedule has the new shape.\n"
            "allowed: resume: lr_schedule.decay_steps is 10 in this run and not used in checkpoint step-300: "
            "the rest of "
            "the schedule has the new shape.\n");
}

TEST(Resume, RefusalListsAllReasons) {
  absl::Status status =
      refusalOf(compareForResume(small(), small({"train.seed=2", "optimizer.kind=lion", "train.steps=200"})),
                "step-300");
  EXPECT_EQ(status.message(),
            "resume: optimizer.kind is lion in this run and adamw in checkpoint step-300: the "
            "checkpoint holds another optimizer's state. Use --set optimizer.kind=adamw, or start a "
            "new run.\n"
            "resume: train.seed is 2 in this run and 1 in checkpoint step-300: the data order would "
            "change. Use --set train.seed=1, or start a new run.");
}

} // namespace weft
