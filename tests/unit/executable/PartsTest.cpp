// A job in two parts: what is asked of both together, and what makes them one job.
#include "runtime/executable/Parts.h"
#include "runtime/executable/MemoryLimits.h"

#include "runtime/executable/CommandLists.h"
#include "runtime/executable/Communication.h"
#include "runtime/executable/Dump.h"
#include "runtime/executable/PersistentBytes.h"
#include "runtime/executable/Verify.h"
#include "tests/unit/executable/SampleExecutable.h"
#include "tests/unit/executable/SampleParts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace weft::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Parts, ARankRunsThePartOfItsPlaceAlongThePipeline) {
  const std::vector<Executable> parts = sampleParts();
  EXPECT_EQ(&partOf(parts, 1), &parts[0]);
  EXPECT_EQ(&partOf(parts, 2), &parts[1]);
}

TEST(Parts, AVariableThatSeveralHoldCountsOnce) {
  const std::vector<Executable> parts = sampleParts();
  std::vector<std::string> names;
  for (const Variable *variable : variablesOf(parts))
    names.push_back(variable->name);
  EXPECT_THAT(names, ElementsAre("embedding", "shared", "head"));
}

TEST(Parts, OneRankOwnsEachPieceOfAVariable) {
  const std::vector<Executable> parts = sampleParts();
  std::map<std::string, std::vector<int64_t>> owners;
  for (int64_t rank = 0; rank < 4; ++rank)
    for (const Variable &variable : partOf(parts, rank).variables)
      if (ownsPart(parts[0].mesh, rank, variable.placement, variable.pipelineOwner))
        owners[variable.name].push_back(rank);
  EXPECT_THAT(owners["embedding"], ElementsAre(0, 1));
  EXPECT_THAT(owners["shared"], ElementsAre(0));
  EXPECT_THAT(owners["head"], ElementsAre(2));
}

TEST(Parts, StagesAreReadOffTheActions) {
  std::vector<Executable> parts = sampleParts();
  EXPECT_THAT(stagesOf(parts[1]), ElementsAre(1));
  parts[0].programs[0].actions = {{"0F"}, {"3F.send"}, {"3BW"}, {"update"}, {"fold_0"}, {"7"}};
  EXPECT_EQ(partText(parts, 0), "pipeline rank 0 (stages 0, 3)");
  EXPECT_THAT(stagesOf(sampleExecutable()), ElementsAre());
}

// 384 bytes on each rank of the first part, 320 on each of the second.
TEST(Parts, MemoryIsWhatTheRanksThatShareItNeedTogether) {
  const std::vector<Executable> parts = sampleParts();
  EXPECT_EQ(allocatedOnAll(parts), 2 * 384 + 2 * 320);
  EXPECT_EQ(largestPart(parts), 0);
  EXPECT_EQ(peakOfRanks(parts, 1), 384);
  EXPECT_EQ(peakOfRanks(parts, 3), 2 * 384 + 320);
}

TEST(Parts, RanksThatNeedLessMakeRoomForOthers) {
  const std::vector<Executable> parts = sampleParts();
  EXPECT_FALSE(overrunOf(parts, {}));
  EXPECT_FALSE(overrunOf(parts, {{}, 1408, 4})); // a share of 352 for each
  const std::optional<MemoryOverrun> shared = overrunOf(parts, {{}, 1407, 4});
  ASSERT_TRUE(shared);
  EXPECT_TRUE(shared->isShared);
  EXPECT_EQ(shared->needed, 1408);
  EXPECT_EQ(shared->part, 0);
  const std::optional<MemoryOverrun> single = overrunOf(parts, {383, 100000, 4});
  ASSERT_TRUE(single);
  EXPECT_FALSE(single->isShared);
  EXPECT_EQ(single->needed, 384);
  EXPECT_FALSE(overrunOf(parts, {384, 100000, 4}));
}

TEST(Parts, TheLowerOfTwoLimitsIsTheOneThatIsTold) {
  EXPECT_TRUE(overrunOf(sampleParts(), {300, 400, 4})->isShared);
  EXPECT_FALSE(overrunOf(sampleParts(), {100, 800, 4})->isShared);
}

// One copy is 24 bytes of each of the three; the embedding has two ranks of 12 bytes, the head two copies,
// shared four; every rank has 128 bytes for them.
TEST(Parts, WhatPersistsIsCountedOverAllParts) {
  const PersistentBytes bytes = persistentBytesOf(sampleParts());
  EXPECT_EQ(bytes, (PersistentBytes{4, 3 * 24, (1 + 3) * 24, 0, 4 * 128 - 7 * 24}));
  EXPECT_EQ(bytes.onAll(), 4 * 128);
}

TEST(Parts, ADumpNamesEachPartAndWhoSavesAVariable) {
  const std::string text = dump(sampleParts());
  EXPECT_THAT(text, HasSubstr("mesh of 4 ranks: p0 = 2, d0 = 2; pipeline = [p0], data = [d0], tensor = []\n"
                              "pipeline rank 0 (stage 0)\nmemory 384 bytes"));
  EXPECT_THAT(text, HasSubstr("pipeline rank 1 (stage 1)\nmemory 320 bytes"));
  EXPECT_THAT(text, HasSubstr("saved as head.weight by pipeline rank 1\n"));
}

TEST(Parts, CommunicationHasATableForEachPart) {
  EXPECT_THAT(explainCommunication(sampleParts(), 0),
              AllOf(HasSubstr("sent by each of 2 ranks on pipeline rank 0 (stage 0)\n  0F "),
                    HasSubstr("sent by each of 2 ranks on pipeline rank 1 (stage 1)\n  update.exchange ")));
}

// The sum over all ranks is a call of either part.
TEST(Parts, TheCommandListsOfAllPartsMeet) {
  std::vector<Executable> parts = sampleParts();
  const std::vector<int64_t> ranks = {0, 1, 2, 3};
  absl::StatusOr<int64_t> calls = verifyCommandLists(parts, ranks);
  ASSERT_EQ(calls.status(), absl::OkStatus());
  EXPECT_EQ(*calls, 2 * 2 + 2);
  parts[1].kernels[0].call.setText("kind", "max");
  EXPECT_THAT(std::string(verifyCommandLists(parts, ranks).status().message()),
              AllOf(HasSubstr("rank 0 calls all_reduce"), HasSubstr("(command 2 of step, at exchange)"),
                    HasSubstr("rank 2 calls all_reduce"), HasSubstr("(command 1 of step, at exchange)")));
}

struct BrokenParts {
  const char *name;
  std::function<void(std::vector<Executable> &)> change;
  const char *message;
};

class VerifyRefusesParts : public ::testing::TestWithParam<BrokenParts> {};

TEST_P(VerifyRefusesParts, WithItsMessage) {
  std::vector<Executable> parts = sampleParts();
  ASSERT_EQ(verify(parts), absl::OkStatus());
  GetParam().change(parts);
  absl::Status status = verify(parts);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), GetParam().message);
}

using Parts = std::vector<Executable>;
const BrokenParts kBroken[] = {
    {"None", [](Parts &parts) { parts.clear(); }, "there is no part"},
    {"TooFew", [](Parts &parts) { parts.pop_back(); },
     "the mesh has 2 pipeline ranks, the executable 1 part"},
    {"NoPipeline",
     [](Parts &parts) {
       for (Executable &part : parts)
         part.mesh.roles[0].axes = {};
       parts[1].variables[1].pipelineOwner = 0;
     },
     "the mesh has 1 pipeline ranks, the executable 2 parts"},
    {"OnePart", [](Parts &parts) { parts[1].programs[0].microbatches = 0; },
     "pipeline rank 1: program 'step': microbatches is 0, at least 1 is needed"},
    {"Config", [](Parts &parts) { parts[1].config = "train: {steps: 4}\n"; },
     "pipeline rank 1 has another config than pipeline rank 0"},
    {"Target", [](Parts &parts) { parts[1].target.instructionSet = "other"; },
     "pipeline rank 1 has another target than pipeline rank 0"},
    {"OwnerOutside", [](Parts &parts) { parts[1].variables[1].pipelineOwner = 2; },
     "pipeline rank 1: variable 'head': it belongs to pipeline rank 2 of 2"},
    {"OwnerWithoutIt", [](Parts &parts) { parts[1].variables[1].pipelineOwner = 0; },
     "variable 'head' of pipeline rank 1 belongs to pipeline rank 0, which does not hold it"},
    {"OtherOwner", [](Parts &parts) { parts[1].variables[0].pipelineOwner = 1; },
     "variable 'shared' of pipeline rank 1 is not that of pipeline rank 0"},
    {"OtherType", [](Parts &parts) { parts[1].variables[0].type.dtype = DType::BF16; },
     "variable 'shared' of pipeline rank 1 is not that of pipeline rank 0"},
    {"CheckpointName", [](Parts &parts) { parts[1].variables[1].checkpointName = "embedding.weight"; },
     "variable 'head' of pipeline rank 1 is saved as 'embedding.weight', and so is 'embedding'"},
    {"SplitOverThePipeline", [](Parts &parts) { parts[0].variables[0].placement.dimensions[0].axes = {0}; },
     "pipeline rank 0: variable 'embedding': placement: axis 'p0' is of the pipeline, which splits no "
     "tensor"},
    {"Programs",
     [](Parts &parts) {
       parts[1].programs.push_back(parts[1].programs[0]);
       parts[1].programs[1].name = "evaluate";
     },
     "pipeline rank 1 has 2 programs, pipeline rank 0 1"},
    {"ProgramName", [](Parts &parts) { parts[1].programs[0].name = "evaluate"; },
     "program 'evaluate' of pipeline rank 1 is 'step' on pipeline rank 0"},
    {"Microbatches", [](Parts &parts) { parts[1].programs[0].microbatches = 2; },
     "program 'step' of pipeline rank 1 has 2 microbatches, on pipeline rank 0 1"},
    {"OutputMissing", [](Parts &parts) { parts[1].programs[0].outputs.clear(); },
     "program 'step' of pipeline rank 1 has 0 outputs, on pipeline rank 0 1"},
    {"OutputType", [](Parts &parts) { parts[1].programs[0].outputs[0].type.shape = {5}; },
     "program 'step' of pipeline rank 1 has the output 'total' : tensor<5xf32>, on pipeline rank 0 'total' : "
     "tensor<6xf32>"},
    {"Input",
     [](Parts &parts) {
       parts[1].memory.bases.push_back({"inputs", BaseKind::Inputs, 1, 64});
       parts[1].memory.rows.push_back({"inputs", "x", 64});
       parts[1].programs[0].inputs = {{"x", {DType::F32, {6}}, {2, 0}, false, {}}};
     },
     "program 'step' of pipeline rank 1: input 'x' is not that of pipeline rank 0"},
};

INSTANTIATE_TEST_SUITE_P(Verify, VerifyRefusesParts, ::testing::ValuesIn(kBroken),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace weft::testing
