// Groups of several ranks: what the communicator's own operations give, and what happens when ranks differ,
// leave, give up, or wait for each other.
#include "tests/unit/comm/RankHarness.h"

#include "absl/strings/match.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>

namespace weft::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T> std::span<std::byte> bytesOf(std::vector<T> &values) {
  return std::as_writable_bytes(std::span(values));
}

class LocalGroup : public ::testing::TestWithParam<int> {};

TEST_P(LocalGroup, OperationsAreThoseOfTheDocumentation) {
  int ranks = GetParam();
  onEachRank(ranks, [&](Communicator &communicator) {
    int rank = communicator.rank();
    EXPECT_EQ(communicator.size(), ranks);
    for (int root = 0; root < ranks; ++root) {
      std::vector<int> sent = {rank, rank + 1};
      ASSERT_EQ(communicator.broadcast(bytesOf(sent), root), absl::OkStatus());
      EXPECT_THAT(sent, ElementsAre(root, root + 1));
    }
    std::vector<int> mine = {rank * 10, rank * 10 + 1}, all(static_cast<size_t>(2 * ranks));
    ASSERT_EQ(communicator.allGather(bytesOf(mine), bytesOf(all)), absl::OkStatus());
    for (int other = 0; other < ranks; ++other)
      EXPECT_EQ(all[static_cast<size_t>(2 * other + 1)], other * 10 + 1);
    std::vector<int> in(all.size(), -1);
    size_t place = 2 * static_cast<size_t>(rank); // the gather is done in place
    in[place] = in[place + 1] = rank;
    ASSERT_EQ(communicator.allGather(bytesOf(in).subspan(4 * place, 8), bytesOf(in)), absl::OkStatus());
    EXPECT_EQ(in.back(), ranks - 1);

    std::vector<double> sum = {1.0 * rank, 1, -1.0 * rank}, highest = sum, lowest = sum;
    ASSERT_EQ(communicator.allReduce(bytesOf(sum), DType::F64, ReduceKind::Sum), absl::OkStatus());
    ASSERT_EQ(communicator.allReduce(bytesOf(highest), DType::F64, ReduceKind::Max), absl::OkStatus());
    ASSERT_EQ(communicator.allReduce(bytesOf(lowest), DType::F64, ReduceKind::Min), absl::OkStatus());
    double total = ranks * (ranks - 1) / 2.0;
    EXPECT_THAT(sum, ElementsAre(total, ranks, -total));
    EXPECT_THAT(highest, ElementsAre(ranks - 1, 1, 0));
    EXPECT_THAT(lowest, ElementsAre(0, 1, 1 - ranks));

    std::vector<int> whole(static_cast<size_t>(3 * ranks)), part(3);
    std::iota(whole.begin(), whole.end(), rank);
    ASSERT_EQ(communicator.reduceScatter(bytesOf(whole), bytesOf(part), DType::I32, ReduceKind::Sum),
              absl::OkStatus());
    EXPECT_EQ(part[2], ranks * (3 * rank + 2) + static_cast<int>(total));
    EXPECT_EQ(communicator.barrier(), absl::OkStatus());
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, LocalGroup, ::testing::Values(1, 2, 3, 4, 8, 16));

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

TEST(LocalGroups, CountWhatEachRankSendsByTheTextbook) {
  onEachRank(4, [](Communicator &communicator) {
    std::vector<float> whole(8), part(2);
    ASSERT_TRUE(communicator.allReduce(bytesOf(whole), DType::F32, ReduceKind::Sum).ok());
    ASSERT_TRUE(communicator.reduceScatter(bytesOf(whole), bytesOf(part), DType::F32, ReduceKind::Sum).ok());
    Traffic before = communicator.traffic();
    ASSERT_TRUE(communicator.allGather(bytesOf(part), bytesOf(whole)).ok());
    ASSERT_TRUE(communicator.barrier().ok());
    Traffic all = communicator.traffic(), last = all.since(before);
    EXPECT_EQ(all[CollectiveOp::AllReduce], (Traffic::Count{1, 48}));     // 2 * 3/4 of 32 bytes
    EXPECT_EQ(all[CollectiveOp::ReduceScatter], (Traffic::Count{1, 24})); // 3/4 of 32 bytes
    EXPECT_EQ(last[CollectiveOp::AllGather], (Traffic::Count{1, 24}));
    EXPECT_EQ(last[CollectiveOp::Barrier], (Traffic::Count{1, 0}));
    EXPECT_EQ(last.bytes(), 24);
    EXPECT_EQ(all.bytes(), 96);
  });
}

// Mistakes. Every rank gets an error, and nobody waits for ever.

/// Runs a body on every rank, and gives the status of each.
std::vector<absl::Status> statuses(int ranks, const std::function<absl::Status(Communicator &)> &body) {
  std::vector<absl::Status> all(static_cast<size_t>(ranks));
  onEachRank(ranks, [&](Communicator &communicator) {
    all[static_cast<size_t>(communicator.rank())] = body(communicator);
  });
  return all;
}

void expectOnAll(const std::vector<absl::Status> &all, absl::StatusCode code, const std::string &message) {
  for (const absl::Status &status : all) {
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(status.message(), message);
  }
}

TEST(Mismatch, OfOperationsNamesBothSidesOnEveryRank) {
  std::vector<absl::Status> all = statuses(3, [](Communicator &communicator) {
    for (int i = 0; i < 11; ++i)
      if (absl::Status status = communicator.barrier(); !status.ok())
        return status;
    std::vector<float> values(1024), gathered(3 * 1024);
    return communicator.rank() == 1 ? communicator.allGather(bytesOf(values), bytesOf(gathered))
                                    : communicator.allReduce(bytesOf(values), DType::F32, ReduceKind::Sum);
  });
  expectOnAll(all, absl::StatusCode::kInvalidArgument,
              "rank 0 called all_reduce #12 of 4096 bytes f32 (sum), rank 1 called all_gather #12 of 4096 "
              "bytes");
}

TEST(Mismatch, OfBytesTypesKindsAndRootsIsNoticed) {
  expectOnAll(statuses(2,
                       [](Communicator &communicator) {
                         std::vector<float> values(communicator.rank() == 0 ? 4 : 5);
                         return communicator.allReduce(bytesOf(values), DType::F32, ReduceKind::Sum);
                       }),
              absl::StatusCode::kInvalidArgument,
              "rank 0 called all_reduce #1 of 16 bytes f32 (sum), rank 1 called all_reduce #1 of 20 bytes "
              "f32 (sum)");
  expectOnAll(statuses(2,
                       [](Communicator &communicator) {
                         std::vector<float> values(4);
                         return communicator.allReduce(bytesOf(values),
                                                       communicator.rank() == 0 ? DType::F32 : DType::I32,
                                                       ReduceKind::Sum);
                       }),
              absl::StatusCode::kInvalidArgument,
              "rank 0 called all_reduce #1 of 16 bytes f32 (sum), rank 1 called all_reduce #1 of 16 bytes "
              "i32 (sum)");
  expectOnAll(statuses(2,
                       [](Communicator &communicator) {
                         std::vector<float> values(4);
                         return communicator.broadcast(bytesOf(values), communicator.rank());
                       }),
              absl::StatusCode::kInvalidArgument,
              "rank 0 called broadcast #1 of 16 bytes (root 0), rank 1 called broadcast #1 of 16 bytes (root "
              "1)");
}

TEST(Mismatch, OfKernelsNamesTheirTypesAndLocations) {
  Mesh mesh = meshOf({2});
  std::vector<absl::Status> all(2);
  onEachRank(mesh, [&](Communicator &communicator, const RankContext &context) {
    std::vector<int64_t> shape =
        communicator.rank() == 0 ? std::vector<int64_t>{2, 8} : std::vector<int64_t>{4, 4};
    KernelCall call{"all_reduce", {{DType::F32, shape}}, {{DType::F32, shape}}, {}};
    call.setIntegers("axes", {0});
    call.setText("kind", "sum");
    if (communicator.rank() == 1)
      call.setText("location", "layer 7");
    std::unique_ptr<Kernel> kernel = *createRankKernel(call, &context);
    std::vector<float> values(16, 1.0f);
    const void *operands[] = {values.data()};
    void *results[] = {values.data()};
    ThreadPool threads(1);
    kernel->run({operands, results, nullptr}, threads);
    all[static_cast<size_t>(communicator.rank())] = context.status();
    kernel->run({operands, results, nullptr}, threads); // fails at once
    EXPECT_EQ(context.status(), all[static_cast<size_t>(communicator.rank())]);
    EXPECT_EQ(values, std::vector<float>(16, 1.0f));
  });
  expectOnAll(all, absl::StatusCode::kInvalidArgument,
              "rank 0 called all_reduce #1 of 64 bytes f32 (sum, tensor<2x8xf32> -> tensor<2x8xf32>), rank 1 "
              "called all_reduce #1 of 64 bytes f32 (sum, tensor<4x4xf32> -> tensor<4x4xf32>, layer 7)");
}

/// One call over some ranks, as a kernel makes it.
absl::Status meetOver(Communicator &communicator, const std::vector<int64_t> &ranks) {
  auto exchange = communicator.exchange(ranks);
  if (!exchange.ok())
    return exchange.status();
  CollectiveCall call;
  call.operation = CollectiveOp::AllReduce;
  call.type = DType::F32;
  call.bytes = 4;
  if (absl::Status status = (*exchange)->begin(call, nullptr, nullptr); !status.ok())
    return status;
  (*exchange)->end();
  return absl::OkStatus();
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
  ASSERT_EQ(exchange->begin({}, nullptr, nullptr), absl::OkStatus());
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

TEST(Leaving, FailsWhoeverWaitsForTheRank) {
  std::vector<absl::Status> all = statuses(3, [](Communicator &communicator) {
    if (communicator.rank() == 2)
      return absl::OkStatus(); // returns early, without a word
    std::vector<float> values(4);
    return communicator.allReduce(bytesOf(values), DType::F32, ReduceKind::Sum);
  });
  EXPECT_EQ(all[2], absl::OkStatus());
  for (size_t rank : {0, 1}) {
    EXPECT_EQ(all[rank].code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(
        std::string(all[rank].message()),
        ::testing::MatchesRegex("lost rank 2, which has left the job before all_reduce #1 of 16 bytes f32 "
                                "\\(sum\\)\\. Rank " +
                                std::to_string(rank) +
                                " was in start, in all_reduce #1 of 16 bytes f32 \\(sum\\) for .*"));
  }
}

TEST(Leaving, LeavesTheOtherRanksToThemselves) {
  std::vector<absl::Status> all = statuses(3, [](Communicator &communicator) {
    if (communicator.rank() == 2)
      return absl::OkStatus();
    for (int i = 0; i < 100; ++i)
      if (absl::Status status = meetOver(communicator, {0, 1}); !status.ok())
        return status;
    return absl::OkStatus();
  });
  EXPECT_THAT(all, ::testing::Each(absl::OkStatus()));
}

TEST(Leaving, AnExchangeOutlivesItsCommunicatorAndFails) {
  std::unique_ptr<Communicator> communicator = createLocalCommunicator();
  std::shared_ptr<Exchange> exchange = *communicator->exchange(std::vector<int64_t>{0});
  communicator.reset();
  EXPECT_THAT(std::string(exchange->begin({}, nullptr, nullptr).message()),
              HasSubstr("lost rank 0, which has left the job before barrier #1. Rank 0 was in start"));
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
    EXPECT_THAT(std::string(all[rank].message()),
                ::testing::AllOf(
                    HasSubstr("lost rank 2, which "),
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
    EXPECT_EQ(exchange->begin({}, memory.data(), memory.data()), absl::OkStatus());
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

TEST(Abort, EndsTheCallsOfAllWithTheCause) {
  absl::Status cause = absl::CancelledError("stopped by a signal");
  cause.SetPayload("test/detail", absl::Cord("kept"));
  std::vector<absl::Status> all = statuses(4, [&](Communicator &communicator) {
    if (communicator.rank() == 3) {
      communicator.abort(cause);
      communicator.abort(absl::InternalError("too late to count"));
    }
    absl::Status first = communicator.barrier();
    EXPECT_EQ(communicator.barrier(), first); // it stays ended
    return first;
  });
  expectOnAll(all, absl::StatusCode::kCancelled, "rank 3 gave up: stopped by a signal");
  EXPECT_EQ(all[0].GetPayload("test/detail"), absl::Cord("kept"));
}

TEST(Abort, ReachesRanksThatWaitInOtherGroups) {
  std::vector<absl::Status> all = statuses(4, [&](Communicator &communicator) {
    switch (communicator.rank()) {
    case 0:
      return meetOver(communicator, {0, 1});
    case 2:
      return meetOver(communicator, {2, 1});
    case 3:
      return communicator.barrier();
    default:
      communicator.abort(absl::OkStatus());
      return communicator.barrier();
    }
  });
  expectOnAll(all, absl::StatusCode::kAborted, "rank 1 gave up");
}

} // namespace
} // namespace weft::testing
