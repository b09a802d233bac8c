// What only lines between threads of one process can know: who waits for whom in a ring, how long, and that
// memory which a rank takes back is let alone.
#include "tests/unit/comm/Calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace weft::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

CollectiveCall sendOf(int64_t bytes) { return {CollectiveOp::Send, DType::I32, bytes, bytes, "x"}; }

/// Sends 16 bytes to a peer, or receives them, and waits.
absl::Status transfer(Communicator &communicator, int64_t peer, bool sends) {
  std::shared_ptr<Line> line = *communicator.line(peer);
  std::vector<int32_t> memory(4);
  if (absl::Status status =
          sends ? line->send(sendOf(16), memory.data()) : line->receive(sendOf(16), memory.data());
      !status.ok())
    return status;
  return sends ? line->finishSend() : line->finishReceive();
}

TEST(LineCycles, OfThreeReceivesAreShown) {
  std::vector<absl::Status> all = statuses(3, [](Communicator &communicator) {
    return transfer(communicator, (communicator.rank() + 1) % 3, false);
  });
  for (const absl::Status &status : all) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(
        std::string(status.message()),
        AllOf(HasSubstr("rank 0 waits for rank 1 in send #1 of 16 bytes i32 (x) from rank 1 to rank 0"),
              HasSubstr("rank 1 waits for rank 2 in send #1 of 16 bytes i32 (x) from rank 2 to rank 1"),
              HasSubstr("rank 2 waits for rank 0 in send #1 of 16 bytes i32 (x) from rank 0 to rank 2"),
              HasSubstr(": none can go on")));
  }
}

TEST(LineCycles, OverLinesAndCollectivesAreShown) {
  // Rank 0 waits for what rank 1 would send behind the barrier.
  std::vector<absl::Status> all = statuses(3, [](Communicator &communicator) {
    return communicator.rank() == 0 ? transfer(communicator, 1, false) : communicator.barrier();
  });
  for (const absl::Status &status : all) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(
        std::string(status.message()),
        AllOf(HasSubstr("rank 0 waits for rank 1 in send #1 of 16 bytes i32 (x) from rank 1 to rank 0"),
              HasSubstr("rank 1 waits for rank 0 in barrier #1"), HasSubstr(": none can go on")));
  }
}

TEST(LineCycles, AreNoneWhereBothBeginBeforeTheyWait) {
  std::vector<absl::Status> all = statuses(2, [](Communicator &communicator) {
    std::shared_ptr<Line> line = *communicator.line(1 - communicator.rank());
    std::vector<int32_t> sent(4), received(4);
    for (int round = 0; round < 1000; ++round) {
      absl::Status status = line->send(sendOf(16), sent.data());
      status.Update(line->receive(sendOf(16), received.data()));
      status.Update(line->finishSend());
      status.Update(line->finishReceive());
      if (!status.ok())
        return status;
    }
    return absl::OkStatus();
  });
  EXPECT_THAT(all, ::testing::Each(absl::OkStatus()));
}

TEST(LineLimits, ARankThatDoesNotComeIsNamedByAllWithWhatItDoes) {
  std::vector<absl::Status> all = statuses(3, [](Communicator &communicator) {
    communicator.setLimits({60, 0.3, 60});
    communicator.enter(Phase::Step, 12);
    if (communicator.rank() == 2) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      return communicator.barrier(); // too late
    }
    // Rank 1 waits for rank 2, rank 0 for rank 1.
    return transfer(communicator, communicator.rank() + 1, communicator.rank() == 0);
  });
  for (size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(all[rank].code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(
        std::string(all[rank].message()),
        AllOf(HasSubstr(rank == 2 ? "taken for lost by the others, since this rank " : "lost rank 2, which "),
              HasSubstr(" for 0.3 s (launch.timeout.step); it is in step 12, outside of collectives for ")));
  }
}

// The memory of a rank whose wait has failed is its own again: what comes later neither reads nor writes it.
TEST(LineMemory, IsLetAloneOnceARankHasFailed) {
  for (bool sends : {false, true}) {
    std::vector<int32_t> first(4, 7), second(4, 8);
    std::atomic<bool> isOver{false};
    statuses(3, [&](Communicator &communicator) {
      if (communicator.rank() == 0) {
        std::shared_ptr<Line> line = *communicator.line(1);
        EXPECT_EQ(sends ? line->send(sendOf(16), first.data()) : line->receive(sendOf(16), first.data()),
                  absl::OkStatus());
        EXPECT_EQ((sends ? line->finishSend() : line->finishReceive()).message(), "rank 2 gave up");
        isOver = true;
      } else if (communicator.rank() == 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        communicator.abort(absl::OkStatus());
      } else {
        while (!isOver)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(transfer(communicator, 0, !sends).message(), "rank 2 gave up");
      }
      return absl::OkStatus();
    });
    EXPECT_EQ(first, std::vector<int32_t>(4, 7));
  }
}

// A rank that leaves takes what it began with it.
TEST(LineMemory, IsLetAloneOnceARankHasLeft) {
  std::atomic<bool> isOver{false};
  std::vector<absl::Status> all = statuses(2, [&](Communicator &communicator) {
    if (communicator.rank() == 0) {
      std::shared_ptr<Line> line = *communicator.line(1);
      std::vector<int32_t> memory(4);
      EXPECT_EQ(line->send(sendOf(16), memory.data()), absl::OkStatus());
      isOver = true;
      return absl::OkStatus(); // without a wait
    }
    while (!isOver)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return transfer(communicator, 0, false);
  });
  EXPECT_THAT(
      std::string(all[1].message()),
      HasSubstr("lost rank 0, which has left the job before send #1 of 16 bytes i32 (x) from rank 0 to "
                "rank 1. Rank 1 was in "));
}

TEST(LineLeaving, ALineOutlivesItsCommunicatorAndFails) {
  std::vector<std::unique_ptr<Communicator>> communicators = *createLocalGroup(2);
  std::shared_ptr<Line> line = *communicators[0]->line(1);
  communicators[0].reset();
  std::vector<int32_t> memory(4);
  EXPECT_THAT(std::string(line->send(sendOf(16), memory.data()).message()),
              HasSubstr("since this rank has left the job before send #1"));
}

// Whenever a group is aborted: nothing hangs, and whoever is told that a transfer is over has all of it.
TEST(Stress, LinesMayBeAbortedAtAnyMoment) {
  constexpr int kRanks = 8, kSize = 5000, kRounds = 60;
  for (int trial = 0; trial < 30; ++trial) {
    std::atomic<int> wrong{0}, failed{0};
    onEachRank(kRanks, [&](Communicator &communicator) {
      const int rank = communicator.rank(), next = (rank + 1) % kRanks, before = (rank + kRanks - 1) % kRanks;
      std::shared_ptr<Line> to = *communicator.line(next), from = *communicator.line(before);
      const int last = rank == trial % kRanks && trial < 25 ? trial : kRounds;
      for (int round = 0; round < last && communicator.exchangeStatus().ok(); ++round) {
        // Given back at the end of each round, whatever happened.
        auto sent = std::make_unique<std::vector<int32_t>>(kSize, rank + round);
        auto received = std::make_unique<std::vector<int32_t>>(kSize, -1);
        const CollectiveCall call = sendOf(kSize * 4);
        absl::Status status;
        auto sends = [&] { status.Update(to->send(call, sent->data())); };
        auto receives = [&] { status.Update(from->receive(call, received->data())); };
        (rank + round) % 2 == 0 ? sends() : receives();
        (rank + round) % 2 == 0 ? receives() : sends();
        status.Update(from->finishReceive());
        wrong += status.ok() && *received != std::vector<int32_t>(kSize, before + round);
        status.Update(to->finishSend());
      }
      if (last == trial)
        communicator.abort(absl::InternalError("enough"));
      failed += !communicator.exchangeStatus().ok();
    });
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_GE(failed.load(), trial < 25 ? kRanks - 1 : 0);
  }
}

} // namespace
} // namespace weft::testing
