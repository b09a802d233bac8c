// Sixteen ranks on whatever cores there are: thousands of small calls over changing groups, each result
// checked; and groups that are aborted at any moment, under which nothing may hang or be read too late. All
// compute in places of one pool: of one thread too, which each leaves to the next when it waits.
#include "kernels/common/ComputePlace.h"
#include "tests/unit/comm/RankHarness.h"

#include <gtest/gtest.h>

#include <atomic>

namespace weft::testing {
namespace {

constexpr int kRanks = 16;

/// The kernels of one rank over every non-empty set of the four axes of a mesh 2 x 2 x 2 x 2.
class Calls {
public:
  Calls(const Mesh &mesh, const RankContext &context, ThreadPool &threads) : mesh(mesh), threads(threads) {
    for (int64_t set = 1; set < 16; ++set) {
      std::vector<int64_t> axes;
      for (int64_t axis = 0; axis < 4; ++axis)
        if (set >> axis & 1)
          axes.push_back(axis);
      KernelCall reduce{"all_reduce", {{DType::I64, {kElements}}}, {{DType::I64, {kElements}}}, {}};
      reduce.setIntegers("axes", axes);
      reduce.setText("kind", "sum");
      reductions.push_back(*createRankKernel(reduce, &context));
      int64_t ranks = mesh.sizeOf(std::vector<uint32_t>(axes.begin(), axes.end()));
      KernelCall gather{"all_gather", {{DType::I64, {1}}}, {{DType::I64, {ranks}}}, {}};
      gather.setIntegers("axes", axes);
      gather.setInteger("dimension", 0);
      gathers.push_back(*createRankKernel(gather, &context));
    }
  }

  /// Sums and gathers (rank + round) over one set of axes; true when the results are right.
  bool run(int64_t rank, int64_t round, size_t set) {
    std::vector<uint32_t> axes;
    for (uint32_t axis = 0; axis < 4; ++axis)
      if ((set + 1) >> axis & 1)
        axes.push_back(axis);
    std::vector<int64_t> group = mesh.group(rank, axes);
    int64_t expected = 0;
    for (int64_t other : group)
      expected += other + round;
    std::fill(values.begin(), values.end(), rank + round);
    const void *operands[] = {values.data()};
    void *results[] = {values.data()};
    reductions[set]->run({operands, results, nullptr}, threads);
    bool right = std::count(values.begin(), values.end(), expected) == kElements;
    int64_t mine = rank * 1000 + round;
    gathered.assign(group.size(), -1);
    operands[0] = &mine;
    results[0] = gathered.data();
    gathers[set]->run({operands, results, nullptr}, threads);
    for (size_t i = 0; i < group.size(); ++i)
      right = right && gathered[i] == group[i] * 1000 + round;
    return right;
  }

private:
  static constexpr int64_t kElements = 300;
  const Mesh &mesh;
  std::vector<std::unique_ptr<Kernel>> reductions, gathers;
  std::vector<int64_t> values = std::vector<int64_t>(kElements), gathered;
  ThreadPool &threads;
};

/// The threads of the pool that all ranks share.
class Stress : public ::testing::TestWithParam<int> {
protected:
  ThreadPool pool{GetParam()};
};

TEST_P(Stress, SixteenRanksMeetInChangingGroups) {
  Mesh mesh = meshOf({2, 2, 2, 2});
  std::atomic<int> wrong{0};
  onEachRank(mesh, [&](Communicator &communicator, const RankContext &context) {
    ComputePlace place(pool);
    place.take();
    Calls calls(mesh, context, pool);
    std::mt19937_64 random(5); // the same choices on every rank
    for (int64_t round = 0; round < 300; ++round)
      wrong += !calls.run(communicator.rank(), round, random() % 15);
    EXPECT_EQ(context.status(), absl::OkStatus());
    EXPECT_EQ(communicator.traffic()[CollectiveOp::AllReduce].calls, 300);
    EXPECT_TRUE(place.has());
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(Stress, SixteenRanksSendToTheNextInARing) {
  std::atomic<int> wrong{0};
  onEachRank(kRanks, [&](Communicator &communicator) {
    ComputePlace place(pool);
    place.take();
    const int64_t rank = communicator.rank(), before = (rank + kRanks - 1) % kRanks;
    std::shared_ptr<Line> to = *communicator.line((rank + 1) % kRanks), from = *communicator.line(before);
    const CollectiveCall call{CollectiveOp::Send, DType::I64, sizeof(int64_t), sizeof(int64_t), "a number"};
    for (int64_t round = 0; round < 300; ++round) {
      int64_t mine = 1000 * rank + round, got = -1;
      EXPECT_EQ(from->receive(call, &got), absl::OkStatus());
      pool.forEachTile(4, [](int64_t, int) {});
      EXPECT_EQ(to->send(call, &mine), absl::OkStatus());
      EXPECT_EQ(from->finishReceive(), absl::OkStatus());
      EXPECT_EQ(to->finishSend(), absl::OkStatus());
      wrong += got != 1000 * before + round;
      EXPECT_TRUE(place.has());
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(Stress, AGroupMayBeAbortedAtAnyMoment) {
  Mesh mesh = meshOf({2, 2, 2, 2});
  for (int trial = 0; trial < 20; ++trial) {
    std::atomic<int> wrong{0}, failed{0};
    onEachRank(mesh, [&](Communicator &communicator, const RankContext &context) {
      ComputePlace place(pool);
      place.take();
      Calls calls(mesh, context, pool);
      std::mt19937_64 random(static_cast<uint64_t>(trial));
      int64_t last = communicator.rank() == trial % kRanks ? trial : 100;
      for (int64_t round = 0; round < last && context.status().ok(); ++round) {
        bool right = calls.run(communicator.rank(), round, random() % 15);
        wrong += !right && context.status().ok();
      }
      if (last == trial)
        communicator.abort(absl::InternalError("enough"));
      failed += !context.status().ok();
    });
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_GE(failed.load(), kRanks - 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Stress, ::testing::Values(1, 2, 5, 128));

} // namespace
} // namespace weft::testing
