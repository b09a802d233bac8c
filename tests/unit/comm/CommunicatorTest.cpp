// Several ranks, of every backend: what the communicator's own operations give, and what happens when ranks
// differ, leave or give up.
#include "tests/unit/comm/Calls.h"

#include "absl/strings/match.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

namespace weft::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Communicators : public ::testing::TestWithParam<int> {
protected:
  void SetUp() override {
    if (!canHave(GetParam()))
      GTEST_SKIP() << GetParam() << " ranks are more than there are processes";
  }
};

TEST_P(Communicators, OperationsAreThoseOfTheDocumentation) {
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

INSTANTIATE_TEST_SUITE_P(Ranks, Communicators, ::testing::Values(1, 2, 3, 4, 8, 16));

TEST(Traffic, CountsWhatEachRankSendsByTheTextbook) {
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
  std::vector<std::string> all(2);
  onEachRank(mesh, [&](Communicator &communicator, const RankContext &context) {
    std::vector<int64_t> shape =
        communicator.rank() == 0 ? std::vector<int64_t>{2, 8} : std::vector<int64_t>{4, 4};
    KernelCall call{"all_reduce", {{DType::F32, shape}}, {{DType::F32, shape}}, {}};
    call.setIntegers("axes", {0});
    call.setText("kind", "sum");
    call.setInteger("staged", 2);
    if (communicator.rank() == 1)
      call.setText("location", "layer 7");
    std::unique_ptr<Kernel> kernel = *createRankKernel(call, &context);
    std::vector<float> values(16, 1.0f);
    const void *operands[] = {values.data()};
    void *results[] = {values.data()};
    ThreadPool threads(1);
    Bytes workspace(static_cast<size_t>(kernel->workspaceBytes()));
    kernel->run({operands, results, workspace.data()}, threads);
    const absl::Status first = context.status();
    all[static_cast<size_t>(communicator.rank())] = encode(first);
    kernel->run({operands, results, workspace.data()}, threads); // fails at once
    EXPECT_EQ(context.status(), first);
    EXPECT_EQ(values, std::vector<float>(16, 1.0f));
  });
  expectOnAll(collectStatuses(all), absl::StatusCode::kInvalidArgument,
              "rank 0 called all_reduce #1 of 64 bytes f32 (sum, tensor<2x8xf32> -> tensor<2x8xf32>), rank 1 "
              "called all_reduce #1 of 64 bytes f32 (sum, tensor<4x4xf32> -> tensor<4x4xf32>, layer 7)");
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
    // Of processes, whoever fails first leaves too, and may be the one that the other names.
    EXPECT_THAT(std::string(all[rank].message()),
                HasSubstr(", which has left the job before all_reduce #1 of 16 bytes f32 (sum). Rank "));
  }
  EXPECT_TRUE(absl::StrContains(all[0].message(), "lost rank 2, which has left") ||
              absl::StrContains(all[1].message(), "lost rank 2, which has left"));
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
