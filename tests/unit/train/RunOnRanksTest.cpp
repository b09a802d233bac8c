//===- RunOnRanksTest.cpp - Ranks start, agree, and stop together ---------===//
#include "ShardedVariables.h"

#include "runtime/support/ExitCode.h"
#include "runtime/train/Anomaly.h"
#include "runtime/train/Banner.h"
#include "runtime/train/DataRank.h"
#include "runtime/train/RankAgreement.h"
#include "runtime/train/RunOnRanks.h"
#include "tests/unit/comm/RankHarness.h"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

namespace weft {
namespace {

std::shared_ptr<ThreadPool> pool() { return std::make_shared<ThreadPool>(2); }

using testing::meshWith;
using testing::onEachRank;

TEST(RunOnRanks, EachRankHasItsOwnMemoryOfThePlannedSize) {
  std::vector<const std::byte *> places(4);
  EXPECT_EQ(runOnRanks(testing::shardedParts(meshWith({{"d0", 2}, {"t0", 2}})), pool(),
                       [&](Executor &executor, Communicator &communicator) {
                         places[static_cast<size_t>(communicator.rank())] = executor.variable(0).bytes.data();
                         EXPECT_EQ(executor.allocatedBytes(), executor.executable().memory.arenaBytes());
                         return communicator.barrier();
                       }),
            absl::OkStatus());
  std::sort(places.begin(), places.end());
  EXPECT_EQ(std::unique(places.begin(), places.end()), places.end());
}

/// Two parts of one job, each on the ranks of its place along the pipeline.
TEST(RunOnRanks, EachRankRunsItsPart) {
  std::vector<std::string> second(4);
  EXPECT_EQ(runOnRanks(testing::shardedParts(meshWith({{"p0", 2}, {"d0", 2}})), pool(),
                       [&](Executor &executor, Communicator &communicator) {
                         second[static_cast<size_t>(communicator.rank())] =
                             executor.executable().variables[1].name;
                         return absl::OkStatus();
                       }),
            absl::OkStatus());
  EXPECT_EQ(second, (std::vector<std::string>{"projection", "projection", "norm", "norm"}));
}

TEST(RunOnRanks, TheFirstFailureStopsAllAndIsTheOneTold) {
  for (int failing : {0, 3}) {
    absl::Status status = runOnRanks(
        testing::shardedParts(meshWith({{"d0", 4}})), pool(), [&](Executor &, Communicator &communicator) {
          if (communicator.rank() == failing)
            return withExitCode(absl::DataLossError("a file is damaged"), ExitCode::Data);
          return communicator.barrier(); // which that rank never reaches
        });
    EXPECT_EQ(status, withExitCode(absl::DataLossError("a file is damaged"), ExitCode::Data));
    EXPECT_EQ(exitCodeOf(status), ExitCode::Data);
  }
}

TEST(RunOnRanks, ARankThatLeavesEarlyStopsThoseThatWaitForIt) {
  absl::Status status = runOnRanks(
      testing::shardedParts(meshWith({{"d0", 2}})), pool(), [&](Executor &, Communicator &communicator) {
        return communicator.rank() == 1 ? absl::OkStatus() : communicator.barrier();
      });
  EXPECT_EQ(exitCodeOf(status), ExitCode::PeerLost);
}

TEST(RunOnRanks, ARankThatDoesNotComeBackEndsWithTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(static_cast<void>(runOnRanks(testing::shardedParts(meshWith({{"d0", 3}})), pool(),
                                           [&](Executor &, Communicator &communicator) {
                                             communicator.setLimits({0.2, 0.2, 0.2});
                                             if (communicator.rank() == 0)
                                               std::this_thread::sleep_for(std::chrono::hours(1));
                                             return communicator.barrier();
                                           })),
              ::testing::ExitedWithCode(static_cast<int>(ExitCode::PeerLost)),
              "lost rank 0, which has not come to barrier #1 for 0.2 s .*\n1 rank did not stop within 5 s "
              "after that");
}

TEST(RunOnRanks, AWrapperStandsBetweenEachRankAndItsGroup) {
  std::vector<int> wrapped;
  EXPECT_EQ(runOnRanks(
                testing::shardedParts(meshWith({{"d0", 2}})), pool(),
                [](Executor &, Communicator &communicator) { return communicator.barrier(); }, nullptr,
                [&](std::unique_ptr<Communicator> communicator) {
                  wrapped.push_back(communicator->rank());
                  return communicator;
                }),
            absl::OkStatus());
  EXPECT_EQ(wrapped, (std::vector<int>{0, 1}));
}

TEST(RunOnRanks, AProgramForAnotherMachineIsRefused) {
  std::vector<Executable> parts = testing::shardedParts(meshWith({{"d0", 2}}));
  parts[0].target.instructionSet = "avx1024";
  absl::Status status =
      runOnRanks(parts, pool(), [](Executor &, Communicator &) { return absl::OkStatus(); });
  EXPECT_EQ(exitCodeOf(status), ExitCode::Config);
}

TEST(CheckMesh, RefusesAProgramForOtherRanks) {
  Config config;
  config.parallel.tensor = 2;
  EXPECT_EQ(checkMesh(testing::shardedPart(meshWith({{"t0", 2}}), 0), config), absl::OkStatus());
  const absl::Status status = checkMesh(testing::shardedPart(meshWith({{"d0", 2}}), 0), config);
  EXPECT_EQ(status.message(),
            "the program is for 2 ranks, 2 of them data ranks; parallel asks for 2, 1 of them data ranks. "
            "Compile it again: weft compile RUN.yaml -o RUN.weft");
  EXPECT_EQ(exitCodeOf(status), ExitCode::Config);
}

//===----------------------------------------------------------------------===//
// Agreement
//===----------------------------------------------------------------------===//

TEST(AgreeOn, TheLowestRankThatFailedSpeaksForAll) {
  onEachRank(4, [](Communicator &communicator) {
    EXPECT_EQ(agreeOn(communicator, absl::OkStatus()), absl::OkStatus());
    absl::Status mine;
    if (communicator.rank() >= 2)
      mine = withExitCode(absl::DataLossError(absl::StrCat("rank ", communicator.rank(), " is at fault")),
                          ExitCode::Checkpoint);
    const absl::Status agreed = agreeOn(communicator, mine);
    EXPECT_EQ(agreed.message(), "rank 2 is at fault");
    EXPECT_EQ(agreed.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(exitCodeOf(agreed), ExitCode::Checkpoint);
  });
}

TEST(GatherTexts, OfAnyLength) {
  onEachRank(3, [](Communicator &communicator) {
    const std::string mine(static_cast<size_t>(5 * communicator.rank()), 'x');
    EXPECT_THAT(*gatherTexts(communicator, mine), ::testing::ElementsAre("", "xxxxx", "xxxxxxxxxx"));
    EXPECT_THAT(*gatherTexts(communicator, ""), ::testing::ElementsAre("", "", ""));
  });
}

TEST(RankOfFirst, IsWhereAValueIsFirstInProgramOrder) {
  onEachRank(3, [](Communicator &communicator) {
    FirstNonFinite found;
    found.order = 20 - communicator.rank();
    EXPECT_EQ(*rankOfFirst(communicator, found), 2);
    EXPECT_EQ(*rankOfFirst(communicator, communicator.rank() == 1 ? std::optional(found) : std::nullopt), 1);
    EXPECT_EQ(*rankOfFirst(communicator, std::nullopt), 0);
  });
}

//===----------------------------------------------------------------------===//
// Who reads what
//===----------------------------------------------------------------------===//

TEST(DataRank, RanksThatDifferOnOtherAxesReadTheSameSamples) {
  const Mesh mesh = meshWith({{"d0", 3}, {"t0", 2}});
  for (int64_t rank = 0; rank < 6; ++rank) {
    const DataRank data = dataRankOf(mesh, rank);
    EXPECT_EQ(data.index, rank / 2);
    EXPECT_EQ(data.count, 3);
    EXPECT_EQ(data.counts, rank % 2 == 0);
  }
  EXPECT_EQ(dataRankOf(Mesh{}, 0).count, 1);
  EXPECT_TRUE(dataRankOf(Mesh{}, 0).counts);
}

TEST(BatchInput, IsSplitOverItsSamplesAndTheirPositionsAndNothingElse) {
  Executable executable;
  executable.mesh = meshWith({{"d0", 2}, {"t0", 2}});
  Program program;
  program.name = "step";
  const TensorType each{DType::I32, {4, 8}};
  const auto check = [&](TensorPlacement placement) {
    const ProgramInput input{"tokens", each, {}, true, std::move(placement)};
    std::vector<std::string> messages;
    for (int64_t rank = 0; rank < 4; ++rank)
      messages.emplace_back(bindBatchInput(executable, program, input, rank, each, true).status().message());
    return messages;
  };
  EXPECT_THAT(check({{8, 8}, {{{0}}, {{}}}}), ::testing::Each(""));
  const std::string misfit =
      "program 'step': input 'tokens' is not split over its samples among 2 data ranks, "
      "and over nothing else but their positions: the trainer gives each of them samples of its own";
  EXPECT_THAT(check({}), ::testing::Each(misfit)); // the same samples on both
  const ProgramInput other{"tokens", {DType::I32, {2, 8}}, {}, true, {{4, 8}, {{{0}}, {{}}}}};
  EXPECT_EQ(bindBatchInput(executable, program, other, 0, each, true).status().message(),
            "program 'step': input 'tokens' is tensor<2x8xi32> per microbatch, the run file needs "
            "tensor<4x8xi32> per microbatch (train.micro_batch, data.sequence_length)");
}

/// Two samples of eight positions, of two that a data rank reads: numbers say sample and position.
TEST(BatchInput, TakesTheRanksPositionsOfEachSample) {
  Executable executable;
  executable.mesh = meshWith({{"d0", 2}, {"c0", 2}});
  Program program;
  program.name = "step";
  const TensorType each{DType::I32, {2, 8}}, part{DType::I32, {2, 4}};
  const std::vector<int32_t> samples = {10, 11, 12, 13, 14, 15, 16, 17, 20, 21, 22, 23, 24, 25, 26, 27};
  const auto taken = [&](int64_t rank, DimensionSplit split) {
    const ProgramInput input{"tokens", part, {}, true, {{4, 8}, {{{0}}, std::move(split)}}};
    absl::StatusOr<SequencePart> bound = bindBatchInput(executable, program, input, rank, each, true);
    std::vector<int32_t> positions(8);
    if (bound.ok())
      bound->copy(samples, positions);
    return positions;
  };
  using ::testing::ElementsAre;
  for (int64_t data : {0, 2}) {
    EXPECT_THAT(taken(data, {{1}}), ElementsAre(10, 11, 12, 13, 20, 21, 22, 23));
    EXPECT_THAT(taken(data + 1, {{1}}), ElementsAre(14, 15, 16, 17, 24, 25, 26, 27));
    EXPECT_THAT(taken(data, {{1}, true}), ElementsAre(10, 11, 16, 17, 20, 21, 26, 27));
    EXPECT_THAT(taken(data + 1, {{1}, true}), ElementsAre(12, 13, 14, 15, 22, 23, 24, 25));
  }
}

TEST(SequencePart, IsPaddedWithZerosWhereItIsShort) {
  const SequencePart second(meshWith({{"c0", 2}}), 1, 5, {{0}});
  std::vector<int32_t> taken(6, 7);
  second.copy(std::vector<int32_t>{1, 2, 3, 4, 5, 11, 12, 13, 14, 15}, taken);
  EXPECT_THAT(taken, ::testing::ElementsAre(4, 5, 0, 14, 15, 0));
  EXPECT_FALSE(second.isWhole());
  EXPECT_TRUE(SequencePart(5).isWhole());
}

TEST(DescribeRanks, SaysHowTheWorkIsShared) {
  const auto describe = [](ParallelConfig parallel) { return describeRanks(parallel); };
  EXPECT_EQ(describe({}), "1 rank");
  EXPECT_EQ(describe({1, 2, 1, 2, true, {}}), "4 ranks: data 2 x tensor 2 (sequence parallel), zero 1");
  EXPECT_EQ(describe({4, 1, 0, 1, false, {}}), "4 ranks: data 4");
  EXPECT_EQ(describe({2, 4, 3, 1, false, {}}), "8 ranks: data_replicate 2 x data_shard 4, zero 3");
  EXPECT_EQ(describe({1, 1, 0, 3, false, {}}), "3 ranks: tensor 3");
  EXPECT_EQ(describe({1, 2, 1, 2, true, {2, ContextMethod::AllToAll}}),
            "8 ranks: data 2 x tensor 2 (sequence parallel) x context 2 (all-to-all), zero 1");
  EXPECT_EQ(describe({1, 1, 0, 1, false, {}, {4, "1f1b", "auto"}}), "4 ranks: pipeline 4 (1f1b)");
  EXPECT_EQ(describe({1, 2, 1, 1, false, {}, {4, "interleaved", "12"}}),
            "8 ranks: pipeline 4 (interleaved, 3 stages a rank) x data 2, zero 1");
  EXPECT_EQ(describe({1, 1, 0, 1, false, {}, {2, "file:/runs/mine.txt", "auto"}}),
            "2 ranks: pipeline 2 (mine.txt)");
}

} // namespace
} // namespace weft
