//===- OffsetAssignmentTest.cpp - Offsets of buffers with lifetimes ------------===//
//
// A plan is valid when buffers that live together do not overlap. Small instances are held against the best
// plan there is: every packing that cannot be pushed down arises from placing the buffers in some order, each
// at the lowest gap, so all orders are tried.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/OffsetAssignment.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace weft {
namespace {

void expectValid(const std::vector<Lifetime> &lifetimes, const OffsetPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), lifetimes.size());
  int64_t top = 0;
  for (size_t a = 0; a < lifetimes.size(); ++a) {
    EXPECT_GE(plan.offsets[a], 0);
    top = std::max(top, plan.offsets[a] + lifetimes[a].bytes);
    for (size_t b = 0; b < a; ++b)
      EXPECT_TRUE(!lifetimes[a].overlaps(lifetimes[b]) ||
                  plan.offsets[a] + lifetimes[a].bytes <= plan.offsets[b] ||
                  plan.offsets[b] + lifetimes[b].bytes <= plan.offsets[a])
          << "buffers " << b << " and " << a << " live together and overlap";
  }
  EXPECT_EQ(plan.peakBytes, top);
  EXPECT_GE(plan.peakBytes, plan.lowerBound);
}

/// The most bytes that are live at one command, by adding them up.
int64_t mostLive(const std::vector<Lifetime> &lifetimes) {
  int64_t most = 0;
  for (const Lifetime &at : lifetimes) {
    int64_t live = 0;
    for (const Lifetime &other : lifetimes)
      live += other.begin <= at.begin && at.begin <= other.end ? other.bytes : 0;
    most = std::max(most, live);
  }
  return most;
}

/// The peak when buffers are placed in `order`, each at the lowest offset that is free.
int64_t peakOf(const std::vector<Lifetime> &lifetimes, const std::vector<size_t> &order) {
  std::vector<int64_t> offsets(lifetimes.size());
  int64_t peak = 0;
  for (size_t place = 0; place < order.size(); ++place) {
    const Lifetime &own = lifetimes[order[place]];
    int64_t offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t earlier = 0; earlier < place; ++earlier) {
        const Lifetime &other = lifetimes[order[earlier]];
        int64_t start = offsets[order[earlier]];
        if (own.overlaps(other) && offset < start + other.bytes && start < offset + own.bytes)
          offset = start + other.bytes, moved = true;
      }
    }
    offsets[order[place]] = offset;
    peak = std::max(peak, offset + own.bytes);
  }
  return peak;
}

int64_t bestPeak(const std::vector<Lifetime> &lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = peakOf(lifetimes, order);
  while (std::next_permutation(order.begin(), order.end()))
    best = std::min(best, peakOf(lifetimes, order));
  return best;
}

std::vector<Lifetime> randomLifetimes(std::mt19937 &random, size_t count, int64_t commands) {
  auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); };
  std::vector<Lifetime> lifetimes;
  for (size_t index = 0; index < count; ++index) {
    int64_t begin = below(commands);
    lifetimes.push_back({64 * below(17), begin, begin + below(commands - begin)});
  }
  return lifetimes;
}

TEST(OffsetAssignment, NoBuffersNeedNothing) {
  OffsetPlan plan = assignOffsets({});
  EXPECT_EQ(plan.peakBytes, 0);
  EXPECT_EQ(plan.lowerBound, 0);
}

TEST(OffsetAssignment, BuffersThatDoNotMeetShareTheirBytes) {
  OffsetPlan plan = assignOffsets({{256, 0, 1}, {256, 2, 3}, {128, 4, 5}});
  EXPECT_EQ(plan.peakBytes, 256);
  EXPECT_EQ(plan.lowerBound, 256);
}

TEST(OffsetAssignment, ALifetimeIncludesItsLastCommand) {
  OffsetPlan plan = assignOffsets({{64, 0, 2}, {64, 2, 3}});
  EXPECT_EQ(plan.peakBytes, 128);
}

TEST(OffsetAssignment, TheLowestGapThatFitsIsTaken) {
  // The last buffer fits between the first and the third, where the second was.
  std::vector<Lifetime> lifetimes = {{512, 0, 9}, {256, 0, 3}, {320, 0, 9}, {192, 5, 9}};
  OffsetPlan plan = assignOffsets(lifetimes);
  expectValid(lifetimes, plan);
  EXPECT_EQ(plan.peakBytes, 512 + 320 + 256);
}

TEST(OffsetAssignment, ThePeakIsWhereMostBytesLive) {
  OffsetPlan plan = assignOffsets({{64, 0, 3}, {128, 3, 5}, {256, 6, 7}});
  EXPECT_EQ(plan.lowerBound, 256);
  EXPECT_EQ(plan.peakCommand, 6);
}

TEST(OffsetAssignment, SmallInstancesAgainstTheBestPlan) {
  std::mt19937 random(20);
  double worst = 1.0;
  for (int instance = 0; instance < 300; ++instance) {
    std::vector<Lifetime> lifetimes = randomLifetimes(random, 1 + random() % 7, 8);
    OffsetPlan plan = assignOffsets(lifetimes);
    expectValid(lifetimes, plan);
    EXPECT_EQ(plan.lowerBound, mostLive(lifetimes));
    int64_t best = bestPeak(lifetimes);
    EXPECT_GE(plan.peakBytes, best);
    EXPECT_GE(best, plan.lowerBound);
    if (best > 0)
      worst = std::max(worst, static_cast<double>(plan.peakBytes) / static_cast<double>(best));
  }
  EXPECT_LE(worst, 1.5) << "the greedy plan is far from the best";
}

TEST(OffsetAssignment, LargeInstancesAreValid) {
  std::mt19937 random(21);
  for (int instance = 0; instance < 20; ++instance) {
    std::vector<Lifetime> lifetimes = randomLifetimes(random, 300, 100);
    expectValid(lifetimes, assignOffsets(lifetimes));
  }
}

} // namespace
} // namespace weft
