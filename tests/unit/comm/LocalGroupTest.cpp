// What only ranks that are threads of one process can know of each other.
#include "tests/unit/comm/Calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace weft::testing {
namespace {

using ::testing::HasSubstr;

TEST(LocalGroups, ABarrierHoldsUntilAllHaveCome) {
  std::atomic<int> came{0};
  onEachRank(4, [&](Communicator &communicator) {
    for (int round = 1; round <= 200; ++round) {
      came.fetch_add(1);
      ASSERT_EQ(communicator.barrier(), absl::OkStatus());
      EXPECT_GE(came.load(), 4 * round);
      ASSERT_EQ(communicator.barrier(), absl::OkStatus());
    }
  });
}

TEST(LocalGroups, HaveOneTo1024Ranks) {
  EXPECT_EQ(createLocalGroup(0).status().message(), "a local group of 0 ranks: there are 1 to 1024");
  EXPECT_FALSE(createLocalGroup(1025).ok());
}

TEST(Mismatch, OfGroupsIsFoundWhereTwoRanksWaitForEachOther) {
  // Rank 0 begins with all four, rank 1 with its pair: neither would ever return.
  std::vector<absl::Status> all = statuses(4, [](Communicator &communicator) {
    return communicator.rank() == 1 ? meetOver(communicator, {0, 1}) : communicator.barrier();
  });
  for (const absl::Status &status : all) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 waits for rank 0 in all_reduce #1 of 4 "
                                                         "bytes f32 over ranks 0 1"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(" waits for rank 1 in barrier #1"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(": none can go on"));
  }
}

TEST(Mismatch, OfGroupsIsFoundInARingOfThree) {
  std::vector<absl::Status> all = statuses(3, [](Communicator &communicator) {
    int64_t rank = communicator.rank();
    return meetOver(communicator, {rank, (rank + 1) % 3}); // {0, 1}, {1, 2}, {2, 0}: each another group
  });
  for (const absl::Status &status : all) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 0 waits for rank 1"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 waits for rank 2"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 2 waits for rank 0"));
  }
}

TEST(Mismatch, ARankMakesOneCallAtATime) {
  std::unique_ptr<Communicator> communicator = createLocalCommunicator();
  std::shared_ptr<Exchange> exchange = *communicator->exchange(std::vector<int64_t>{0});
  ASSERT_EQ(exchange->begin({}, {}, {}), absl::OkStatus());
  EXPECT_EQ(communicator->barrier().message(), "rank 0 called barrier while another call of it was not over");
  exchange->end();
  EXPECT_EQ(communicator->barrier(), absl::OkStatus());
}

TEST(Exchanges, AreOverRanksOfTheGroup) {
  std::unique_ptr<Communicator> communicator = std::move((*createLocalGroup(3))[1]);
  auto messageFor = [&](const std::vector<int64_t> &ranks) {
    return std::string(communicator->exchange(ranks).status().message());
  };
  EXPECT_EQ(messageFor({1, 3}), "exchange: rank 3 of 3 ranks");
  EXPECT_EQ(messageFor({-1, 1}), "exchange: rank -1 of 3 ranks");
  EXPECT_EQ(messageFor({1, 1}), "exchange: rank 1 is named twice");
  EXPECT_EQ(messageFor({0, 2}), "exchange: rank 1 is not in the group it asks for");
  EXPECT_EQ((*communicator->exchange(std::vector<int64_t>{2, 1}))->member(), 1);
  EXPECT_EQ(createRankContext(meshOf({2, 2}), *communicator).status().message(),
            "a mesh of 4 ranks, and a communicator of 3");
}

TEST(Leaving, AnExchangeOutlivesItsCommunicatorAndFails) {
  std::unique_ptr<Communicator> communicator = createLocalCommunicator();
  std::shared_ptr<Exchange> exchange = *communicator->exchange(std::vector<int64_t>{0});
  communicator.reset();
  EXPECT_EQ(exchange->begin({}, {}, {}).message(), "rank 0 has left the group; rank 0 waited in barrier #1");
}

} // namespace
} // namespace weft::testing
