#include "runtime/train/RankAgreement.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/support/ExitCode.h"

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
  absl::Status exchangeStatus() const override { return absl::OkStatus(); }
  Traffic traffic() const override { return {}; }

private:
  int differing;
};

TEST(RankAgreement, OneRankAndEqualRanksAgree) {
  EXPECT_EQ(checkRanksAgree(*createLocalCommunicator(), {"train: {}", 1, 2}), absl::OkStatus());
  ThreeRanks equal(-1);
  EXPECT_EQ(checkRanksAgree(equal, {"train: {}", 1, 2}), absl::OkStatus());
}

TEST(RankAgreement, NamesTheRankAndWhatDiffers) {
  const char *names[] = {"version of weft", "config", "tokenizer", "data"};
  for (int which = 0; which < 4; ++which) {
    ThreeRanks ranks(which);
    absl::Status status = checkRanksAgree(ranks, {"train: {}", 1, 2});
    EXPECT_THAT(std::string(status.message()),
                ::testing::StartsWith(std::string("rank 2 has another ") + names[which] + " than rank 0"));
    EXPECT_EQ(exitCodeOf(status), ExitCode::Config);
  }
}

} // namespace
} // namespace weft
