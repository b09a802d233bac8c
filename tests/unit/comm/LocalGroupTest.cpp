// What only ranks that are threads of one process can know of each other.
#include "tests/unit/comm/Calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

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
  EXPECT_THAT(std::string(exchange->begin({}, {}, {}).message()),
              HasSubstr("since this rank has left the job before barrier #1. Rank 0 was in start"));
}

TEST(Limits, ARankThatDoesNotComeIsNamedByAllWithWhatItDoes) {
  std::vector<absl::Status> all = statuses(4, [](Communicator &communicator) {
    communicator.setLimits({60, 0.3, 60});
    communicator.enter(Phase::Step, 12);
    EXPECT_EQ(communicator.barrier(), absl::OkStatus());
    if (communicator.rank() == 2) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      return communicator.barrier(); // too late
    }
    // Rank 0 waits for rank 2, the others wait for rank 0.
    return communicator.rank() == 0 ? meetOver(communicator, {0, 2}) : communicator.barrier();
  });
  for (size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(all[rank].code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(
        std::string(all[rank].message()),
        ::testing::AllOf(
            HasSubstr(rank == 2 ? "taken for lost by the others, since this rank " : "lost rank 2, which "),
            HasSubstr(" for 0.3 s (launch.timeout.step); it is in step 12, outside of "
                      "collectives for "),
            HasSubstr(", after barrier #1. Rank " + std::to_string(rank) + " was in step 12, in ")));
  }
}

TEST(Limits, ARankThatFreezesInsideACallEndsItForTheOthers) {
  std::vector<absl::Status> all = statuses(3, [](Communicator &communicator) {
    communicator.setLimits({60, 60, 0.2});
    communicator.enter(Phase::Save, 4);
    std::shared_ptr<Exchange> exchange = *communicator.exchange(std::vector<int64_t>{0, 1, 2});
    std::vector<float> memory(4);
    EXPECT_EQ(exchange->begin({}, {}, {memory.data(), memory.data(), nullptr}), absl::OkStatus());
    if (communicator.rank() == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
    exchange->end();
    return communicator.exchangeStatus();
  });
  for (size_t rank : {0, 2})
    EXPECT_THAT(std::string(all[rank].message()),
                ::testing::AllOf(
                    HasSubstr("lost rank 1, which has not come to barrier #1 for 0.2 s "
                              "(launch.timeout.save); it is in save of step 4, in barrier #1 for "),
                    HasSubstr("Rank " + std::to_string(rank) + " was in save of step 4, in barrier #1 ")));
}

TEST(Limits, EachPhaseHasItsOwn) {
  std::vector<absl::Status> all = statuses(2, [](Communicator &communicator) {
    communicator.setLimits({60, 0.1, 60});
    if (communicator.rank() == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return communicator.barrier();
  });
  EXPECT_THAT(all, ::testing::Each(absl::OkStatus()));
}

} // namespace
} // namespace weft::testing
