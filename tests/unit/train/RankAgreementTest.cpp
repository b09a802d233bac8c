#include "runtime/train/RankAgreement.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/support/ExitCode.h"
#include "tests/unit/comm/RankHarness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

/// Three ranks, of which the last two send what they are told to.
class ThreeRanks final : public Communicator {
public:
  explicit ThreeRanks(int differing) : differing(differing) {}
  int rank() const override { return 0; }
  int size() const override { return 3; }
  absl::Status barrier() override { return absl::OkStatus(); }
  absl::Status broadcast(std::span<std::byte>, int) override { return absl::OkStatus(); }
  absl::Status allGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    for (size_t other = 0; other < 3; ++other)
      std::copy(mine.begin(), mine.end(), all.begin() + static_cast<int64_t>(other * mine.size()));
    if (differing >= 0) // one number of rank 2
      all[2 * mine.size() + static_cast<size_t>(differing) * sizeof(uint64_t)] ^= std::byte{1};
    return absl::OkStatus();
  }
  absl::Status allReduce(std::span<std::byte>, DType, ReduceKind) override { return absl::OkStatus(); }
  absl::Status reduceScatter(std::span<const std::byte>, std::span<std::byte>, DType, ReduceKind) override {
    return absl::OkStatus();
  }
  void setLimits(const WaitLimits &) override {}
  void enter(Phase, int64_t) override {}
  void abort(absl::Status) override {}
  absl::StatusOr<std::shared_ptr<Exchange>> exchange(std::span<const int64_t>) override {
    return absl::UnimplementedError("no exchanges");
  }
  absl::StatusOr<std::shared_ptr<Line>> line(int64_t) override {
    return absl::UnimplementedError("no lines");
  }
  absl::Status exchangeStatus() const override { return absl::OkStatus(); }
  Traffic traffic() const override { return {}; }

private:
  int differing;
};

TEST(RankAgreement, OneRankAndEqualRanksAgree) {
  EXPECT_EQ(checkRanksAgree(*createLocalCommunicator(), {"train: {}", 1, 2}, 3), absl::OkStatus());
  ThreeRanks equal(-1);
  EXPECT_EQ(checkRanksAgree(equal, {"train: {}", 1, 2}, 3), absl::OkStatus());
}

TEST(RankAgreement, NamesTheRankWhatDiffersAndWhatHelps) {
  const char *messages[] = {
      "rank 2 has another version of weft than rank 0. Install the same one on all machines.",
      "rank 2 has another config than rank 0. Start all ranks from the same run file, with the same --set.",
      "rank 2 has another program than rank 0. Start all ranks again, from the same executable.",
      "rank 2 has another tokenizer than rank 0. Bring the same tokenizer to all machines.",
      "rank 2 has another data than rank 0. Bring the same files of data.train to all machines."};
  for (int which = 0; which < 5; ++which) {
    ThreeRanks ranks(which);
    absl::Status status = checkRanksAgree(ranks, {"train: {}", 1, 2}, 3);
    EXPECT_EQ(status.message(), messages[which]);
    EXPECT_EQ(exitCodeOf(status), ExitCode::Config);
  }
}

TEST(RankAgreement, NamesAllRanksThatDiffer) {
  testing::onEachRank(4, [](Communicator &communicator) {
    const uint64_t data = communicator.rank() % 2 == 0 ? 2 : 7;
    EXPECT_EQ(
        checkRanksAgree(communicator, {"train: {}", 1, data}, 3).message(),
        "ranks 1, 3 have another data than rank 0. Bring the same files of data.train to all machines.");
  });
}

TEST(RankAgreement, ShowsTheKeyInWhichConfigsDiffer) {
  testing::onEachRank(3, [](Communicator &communicator) {
    const std::string seed = communicator.rank() == 1 ? "5" : "1";
    const LoadedConfig loaded =
        *loadConfigText("model: {program: a.mlir}\ntokenizer: {kind: bytes}\ndata: "
                        "{train: [{path: a.txt}], sequence_length: 8}\n"
                        "optimizer: {lr: 1.0e-3}\ntrain: {steps: 4, micro_batch: 1, global_batch: 1, seed: " +
                            seed + "}\n",
                        "run.yaml", "/");
    const absl::Status status = checkConfigsAgree(communicator, loaded);
    EXPECT_EQ(status.message(),
              "rank 1 has another config than rank 0. Start all ranks from the same run file, with the same "
              "--set.\n  rank 1: train.seed is 5, and 1 on rank 0");
    EXPECT_EQ(exitCodeOf(status), ExitCode::Config);
  });
}

} // namespace
} // namespace weft
