//===- ParallelTest.cpp - How ranks share the work, and what cannot be ----===//
//
// Sizes that fit give a mesh of prime axes; those that do not are refused with what would. Line 11 is the
// first after the small run, which has 4 heads, 32 tokens and 8 microbatches of 4 samples.
//
//===----------------------------------------------------------------------===//
#include "ConfigTestSupport.h"

#include "runtime/config/ConfigMesh.h"
#include "runtime/config/ResumeComparison.h"

namespace weft {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

static Config configOf(const Overrides &overrides) {
  absl::StatusOr<LoadedConfig> loaded = loadSmall(overrides);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? loaded->config : Config();
}

static std::string errorWith(const Overrides &overrides) { return errorOf(loadSmall(overrides)); }

TEST(Parallel, OneRankUnlessTheFileSaysMore) {
  const Config config = configOf({});
  EXPECT_EQ(config.parallel.ranks(), 1);
  EXPECT_EQ(config.microBatches(), 8);
  EXPECT_EQ(meshOf(config), Mesh{});
}

TEST(Parallel, EachDataRankHasItsShareOfTheMicrobatches) {
  const Config config = configOf({"parallel={data_replicate: 2, data_shard: 2, tensor: 2}"});
  EXPECT_EQ(config.parallel.ranks(), 8);
  EXPECT_EQ(config.parallel.dataRanks(), 4);
  EXPECT_EQ(config.microBatches(), 2);
}

TEST(Parallel, DataShardTakesWhatIsLeft) {
  EXPECT_EQ(configOf({"parallel={data_shard: -1, tensor: 2}", "launch.ranks=8"}).parallel.dataShard, 4);
  EXPECT_EQ(configOf({"parallel={data_shard: -1, tensor: 2}"}).parallel.dataShard, 1) << "nothing is left";
  absl::StatusOr<LoadedConfig> loaded = loadSmall({"parallel.data_shard=-1", "launch.ranks=4"});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->resolvedYaml(), HasSubstr("  data_shard: 4  ")) << "resolved texts leave nothing open";
}

//===----------------------------------------------------------------------===//
// What cannot be
//===----------------------------------------------------------------------===//

TEST(ParallelRefused, TensorThatCutsAHead) {
  EXPECT_EQ(errorOf(loadWith("parallel: {tensor: 3}\n")),
            "run.yaml:11: parallel.tensor: 3 does not divide num_attention_heads (4). Works: 1, 2, 4.");
  EXPECT_EQ(errorWith({"model.num_attention_heads=32", "parallel.tensor=5"}),
            "--set: parallel.tensor: 5 does not divide num_attention_heads (32). Works: 1, 2, 4, 8, 16, 32.");
  EXPECT_EQ(configOf({"model.num_key_value_heads=1", "parallel.tensor=4"}).parallel.tensor, 4)
      << "query groups may be fewer than the ranks";
  EXPECT_EQ(
      configOf({"model.intermediate_size=101", "model.vocab_size=513", "parallel.tensor=4"}).parallel.tensor,
      4)
      << "feed-forward and vocabulary may be uneven";
}

TEST(ParallelRefused, BatchesThatDoNotDivideAmongDataRanks) {
  EXPECT_EQ(errorWith({"parallel.data_shard=3"}),
            "--set: parallel.data_shard: 3 data ranks (data_replicate 1 x data_shard 3) do not divide "
            "train.global_batch (32). Works: 1, 2, 4, 8, 16, 32 data ranks, or a global_batch of 24 or 36.");
  EXPECT_EQ(errorWith({"parallel.data_replicate=5"}),
            "--set: parallel.data_replicate: 5 data ranks (data_replicate 5 x data_shard 1) do not divide "
            "train.global_batch (32). Works: 1, 2, 4, 8, 16, 32 data ranks, or a global_batch of 20 or 40.");
  EXPECT_EQ(
      errorWith({"parallel.data_shard=16"}),
      "run.yaml:9: train.micro_batch: 4 does not divide the 2 samples of a data rank (global_batch 32 / "
      "16 data ranks). Works: 1, 2.");
}

TEST(ParallelRefused, SequenceThatDoesNotDivideAmongTensorRanks) {
  EXPECT_EQ(
      errorWith({"data.sequence_length=33", "parallel={tensor: 2, sequence: true}"}),
      "--set: parallel.sequence: tensor (2) does not divide data.sequence_length (33). Works: false, or "
      "a sequence_length of 32 or 34.");
  EXPECT_EQ(configOf({"data.sequence_length=33", "parallel={tensor: 2}"}).parallel.tensor, 2);
}

TEST(ParallelRefused, RanksThatAreNotTheProduct) {
  EXPECT_EQ(errorWith({"launch.ranks=8", "parallel={data_shard: 2, tensor: 2}"}),
            "--set: launch.ranks: 8 is not data_replicate x data_shard x tensor (1 x 2 x 2 = 4). Works: 4, "
            "auto, or data_shard: -1 (what is left).");
  EXPECT_EQ(errorWith({"launch.ranks=2", "parallel={tensor: 4}"}),
            "--set: launch.ranks: 2 is not data_replicate x data_shard x tensor (1 x 1 x 4 = 4). Works: 4, "
            "auto.");
  EXPECT_EQ(errorWith({"launch.ranks=6", "parallel={data_shard: -1, tensor: 4}"}),
            "--set: launch.ranks: 6 is no multiple of data_replicate x tensor (1 x 4 = 4), and data_shard is "
            "what is left. Works: 4 or 8.");
  EXPECT_EQ(errorWith({"parallel.data_shard=0"}),
            "--set: parallel.data_shard: 0 is no number of ranks. Works: "
            "1 or more, or -1 (what launch.ranks leaves).");
  EXPECT_EQ(errorWith({"parallel.zero=4"}), "--set: parallel.zero: 4 is out of range. Works: 0 to 3.");
}

TEST(ParallelRefused, ContextThatDoesNotDivideTheSequence) {
  EXPECT_EQ(errorWith({"parallel.context.size=3"}),
            "--set: parallel.context.size: 3 ranks cannot share data.sequence_length (32) in equal pairs of "
            "chunks. Works: a sequence_length of 30 or 36.");
  EXPECT_EQ(errorWith({"data.sequence_length=36", "parallel={tensor: 2, sequence: true, context: {size: 2}}",
                       "model.max_position_embeddings=64"}),
            "--set: parallel.context.size: with sequence, tensor (2) x 2 ranks cannot share "
            "data.sequence_length (36) in equal pairs of chunks. Works: a sequence_length of 32 or 40.");
  EXPECT_EQ(configOf({"parallel.context={size: 32, method: gather}", "data.sequence_length=64",
                      "model.max_position_embeddings=64"})
                .parallel.ranks(),
            32);
  EXPECT_EQ(errorWith({"parallel.context={size: 4, method: all_to_all}", "data.sequence_length=30"}),
            "--set: parallel.context.size: 4 ranks cannot share data.sequence_length (30) in equal parts. "
            "Works: a sequence_length of 28 or 32.");
}

TEST(ParallelRefused, ContextThatDoesNotDivideTheHeads) {
  EXPECT_EQ(errorWith({"parallel.context={size: 8, method: all_to_all}"}),
            "--set: parallel.context.size: tensor (1) x 8 ranks cannot share num_attention_heads (4, in 4 "
            "groups), as method all_to_all asks. Works: 2, 4, or method gather.");
  EXPECT_EQ(errorWith({"parallel={tensor: 4, context: {size: 2, method: all_to_all}}"}),
            "--set: parallel.context.size: tensor (4) x 2 ranks cannot share num_attention_heads (4, in 4 "
            "groups), as method all_to_all asks. Works: method gather.");
  EXPECT_EQ(configOf({"model.num_key_value_heads=2", "parallel={tensor: 2, context: {size: 2, method: "
                                                     "all_to_all}}"})
                .parallel.context.size,
            2)
      << "two ranks share the heads of one group";
  EXPECT_EQ(errorWith({"model={num_attention_heads: 6, num_key_value_heads: 3, head_dim: 8}",
                       "parallel.context={size: 2, method: all_to_all}"}),
            "--set: parallel.context.size: tensor (1) x 2 ranks cannot share num_attention_heads (6, in 3 "
            "groups), as method all_to_all asks. Works: 3, 6, or method gather.")
      << "a part would have a group and a half";
}

TEST(ParallelUnused, IsReportedWithWhatWouldUseIt) {
  absl::StatusOr<LoadedConfig> loaded = loadSmall({"parallel={zero: 1, sequence: true}"});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(
      loaded->warnings,
      ElementsAre("--set: parallel.zero: is not used here: it counts only with parallel.data_shard or "
                  "parallel.context.size > 1.",
                  "--set: parallel.sequence: is not used here: it counts only with parallel.tensor > "
                  "1."));
  EXPECT_THAT(loadSmall({"parallel={data_shard: -1, zero: 1}", "launch.ranks=2"})->warnings, IsEmpty());
  EXPECT_THAT(loadSmall({"parallel={context: {size: 2}, zero: 1}"})->warnings, IsEmpty());
  EXPECT_THAT(loadSmall({"parallel.context.method=all_to_all"})->warnings,
              ElementsAre("--set: parallel.context.method: is not used here: it counts only with "
                          "parallel.context.size > 1."));
}

TEST(ParallelResume, TheMeshMayChange) {
  const std::vector<ResumeDifference> differences =
      compareForResume(configOf({}), configOf({"parallel={data_shard: 2, zero: 1, tensor: 2}"}));
  EXPECT_TRUE(refusalOf(differences, "step-300").ok());
  ASSERT_EQ(differences.size(), 4u);
  EXPECT_EQ(differences[0].message("step-300"),
            "resume: parallel.data_shard is 2 in this run and 1 in checkpoint step-300: sums are rounded in "
            "another order, so bits differ from an unchanged run.");
}

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

static std::vector<std::string> axesOf(const Mesh &mesh) {
  std::vector<std::string> axes;
  for (const MeshAxis &axis : mesh.axes)
    axes.push_back(axis.name + "=" + std::to_string(axis.size));
  return axes;
}

TEST(ConfigMesh, AxesArePrimeLargestFirstAndTensorRanksAreNeighbors) {
  const Mesh mesh = meshOf(configOf({"model.num_attention_heads=12", "model.head_dim=8",
                                     "train={micro_batch: 1, global_batch: 24}",
                                     "parallel={data_replicate: 2, data_shard: 6, tensor: 12}"}));
  EXPECT_THAT(axesOf(mesh), ElementsAre("r0=2", "d0=3", "d1=2", "t0=3", "t1=2", "t2=2"));
  EXPECT_THAT(mesh.axesOf("data"), ElementsAre(0, 1, 2));
  EXPECT_THAT(mesh.axesOf("data_replicate"), ElementsAre(0));
  EXPECT_THAT(mesh.axesOf("data_shard"), ElementsAre(1, 2));
  EXPECT_THAT(mesh.axesOf("tensor"), ElementsAre(3, 4, 5));
  EXPECT_EQ(mesh.ranks(), 144);
  EXPECT_THAT(mesh.group(13, mesh.axesOf("tensor")),
              ElementsAre(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23));
}

TEST(ConfigMesh, ContextIsBetweenDataAndTensor) {
  const Config config =
      configOf({"parallel={data_shard: -1, tensor: 2, context: {size: 4}}", "launch.ranks=16"});
  EXPECT_EQ(config.parallel.dataRanks(), 2) << "context ranks read the same samples";
  const Mesh mesh = meshOf(config);
  EXPECT_THAT(axesOf(mesh), ElementsAre("d0=2", "c0=2", "c1=2", "t0=2"));
  EXPECT_THAT(mesh.axesOf("data"), ElementsAre(0));
  EXPECT_THAT(mesh.axesOf("context"), ElementsAre(1, 2));
  EXPECT_EQ(errorWith({"launch.ranks=6", "parallel={data_shard: -1, context: {size: 4}}"}),
            "--set: launch.ranks: 6 is no multiple of data_replicate x tensor x context.size (1 x 1 x 4 = "
            "4), and data_shard is what is left. Works: 4 or 8.");
}

TEST(ConfigMesh, ARoleMayHaveNoAxis) {
  const Mesh mesh = meshOf(configOf({"parallel.tensor=4"}));
  EXPECT_THAT(axesOf(mesh), ElementsAre("t0=2", "t1=2"));
  EXPECT_THAT(mesh.axesOf("data"), IsEmpty());
  EXPECT_EQ(mesh.sizeOf(mesh.axesOf("data")), 1);
  EXPECT_EQ(mesh.roles.size(), 4u);
}

//===----------------------------------------------------------------------===//
// The canonical sum
//===----------------------------------------------------------------------===//

TEST(Canonical, TakesPowersOfTwoThatShareTheMicrobatches) {
  for (const char *parallel :
       {"{}", "{data_shard: 2, zero: 1}", "{data_replicate: 2, data_shard: 2}", "{data_shard: 8, zero: 3}"})
    EXPECT_EQ(configOf({std::string("parallel=") + parallel, "train.reduction=canonical"}).train.reduction,
              ReductionKind::Canonical);
  EXPECT_EQ(configOf({"train.global_batch=36", "parallel.data_shard=1", "train.reduction=canonical"})
                .microBatches(),
            9)
      << "one rank takes any number";
}

TEST(CanonicalRefused, DataRanksThatHaveNoSubtree) {
  EXPECT_EQ(errorWith({"train.reduction=canonical", "train.global_batch=48", "parallel.data_shard=3"}),
            "--set: train.reduction: canonical halves the 12 microbatches of a step (global_batch 48 / "
            "micro_batch 4) until "
            "each of 3 data ranks (data_replicate 1 x data_shard 3) has a part, which no power of two does. "
            "Works: 1, 2 or 4 "
            "data ranks, or fast.");
  EXPECT_EQ(errorWith({"train.reduction=canonical", "train.global_batch=48",
                       "parallel={data_replicate: 2, data_shard: 4}"}),
            "--set: train.reduction: canonical halves the 12 microbatches of a step (global_batch 48 / "
            "micro_batch 4) until "
            "each of 8 data ranks (data_replicate 2 x data_shard 4) has a part, which gives no whole "
            "microbatches. Works: 1, "
            "2 or 4 data ranks, a global_batch of 32 or 64, or fast.");
}

TEST(CanonicalRefused, TensorRanks) {
  EXPECT_EQ(errorWith({"train.reduction=canonical", "parallel.tensor=2"}),
            "--set: train.reduction: canonical does not go with tensor (2): the products of a layer are then "
            "sums over its "
            "ranks, which fewer ranks round otherwise. Works: parallel.tensor: 1, or fast.");
}

TEST(CanonicalRefused, ContextRanks) {
  EXPECT_EQ(
      errorWith({"train.reduction=canonical", "parallel.context.size=2"}),
      "--set: train.reduction: canonical does not go with context.size (2): gradients are then sums over "
      "its ranks, of parts of each sample, which one rank rounds otherwise. Works: parallel.context.size: "
      "1, or fast.");
}

TEST(Canonical, SaysThatAnotherMeshChangesNoBit) {
  const Config one = configOf({"train.reduction=canonical"});
  for (const ResumeDifference &difference :
       compareForResume(one, configOf({"train.reduction=canonical", "parallel={data_shard: 4, zero: 2}"})))
    EXPECT_EQ(difference.effect, "train.reduction is canonical, so no bit changes") << difference.path;
  for (const ResumeDifference &difference : compareForResume(one, configOf({"parallel={data_replicate: 4}"})))
    EXPECT_EQ(difference.effect, "sums are rounded in another order, so bits differ from an unchanged run")
        << difference.path;
}

} // namespace weft
