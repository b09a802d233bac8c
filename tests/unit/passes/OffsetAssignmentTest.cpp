//===- OffsetAssignmentTest.cpp - Offsets of buffers with lifetimes ------------===//
//
// A plan is valid when buffers that live together do not overlap. Small instances are held against the best
// plan there is: every packing that cannot be pushed down arises from placing the buffers from the lowest to
// the highest, each at the lowest gap, so all orders are tried in which no buffer comes below the one before
// it.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/OffsetAssignment.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <limits>
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

/// The lowest peak of all orders, by branch and bound.
class BestPeak {
public:
  explicit BestPeak(const std::vector<Lifetime> &lifetimes)
      : lifetimes(lifetimes), offsets(lifetimes.size()), isPlaced(lifetimes.size()),
        bound(mostLive(lifetimes)) {}

  int64_t find() {
    extend(0, 0, 0);
    return best;
  }

private:
  void extend(size_t placed, int64_t lowest, int64_t peak) {
    if (peak >= best || best == bound)
      return;
    if (placed == lifetimes.size()) {
      best = peak;
      return;
    }
    for (size_t next = 0; next < lifetimes.size(); ++next) {
      if (isPlaced[next])
        continue;
      offsets[next] = lowestGap(next);
      if (offsets[next] < lowest)
        continue;
      isPlaced[next] = true;
      extend(placed + 1, offsets[next], std::max(peak, offsets[next] + lifetimes[next].bytes));
      isPlaced[next] = false;
    }
  }

  int64_t lowestGap(size_t own) const {
    int64_t offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t other = 0; other < lifetimes.size(); ++other)
        if (isPlaced[other] && lifetimes[own].overlaps(lifetimes[other]) &&
            offset < offsets[other] + lifetimes[other].bytes &&
            offsets[other] < offset + lifetimes[own].bytes)
          offset = offsets[other] + lifetimes[other].bytes, moved = true;
    }
    return offset;
  }

  const std::vector<Lifetime> &lifetimes;
  std::vector<int64_t> offsets;
  std::vector<bool> isPlaced;
  int64_t bound, best = std::numeric_limits<int64_t>::max();
};

std::vector<Lifetime> randomLifetimes(std::mt19937 &random, size_t count, int64_t commands) {
  auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); };
  std::vector<Lifetime> lifetimes;
  for (size_t index = 0; index < count; ++index) {
    int64_t begin = below(commands);
    lifetimes.push_back({64 * below(17), begin, begin + below(commands - begin)});
  }
  return lifetimes;
}

/// Of one to four units, each short: as many live at once as have room.
std::vector<Lifetime> crowdedLifetimes(std::mt19937 &random, size_t count) {
  std::vector<Lifetime> lifetimes;
  for (size_t index = 0; index < count; ++index) {
    const auto begin = static_cast<int64_t>(random() % 9);
    lifetimes.push_back(
        {static_cast<int64_t>(64 * (1 + random() % 4)), begin, begin + static_cast<int64_t>(random() % 4)});
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

TEST(OffsetAssignment, UpToTenBuffersAreHeldAgainstTheBestPlan) {
  std::mt19937 random(20);
  int best = 0;
  double worst = 1.0;
  for (int instance = 0; instance < 5000; ++instance) {
    std::vector<Lifetime> lifetimes =
        instance % 2 == 0 ? randomLifetimes(random, 1 + random() % 10, 12) : crowdedLifetimes(random, 10);
    OffsetPlan plan = assignOffsets(lifetimes);
    expectValid(lifetimes, plan);
    EXPECT_EQ(plan.lowerBound, mostLive(lifetimes));
    const int64_t lowest = BestPeak(lifetimes).find();
    EXPECT_GE(plan.peakBytes, lowest);
    best += plan.peakBytes == lowest;
    if (lowest > 0)
      worst = std::max(worst, static_cast<double>(plan.peakBytes) / static_cast<double>(lowest));
  }
  EXPECT_EQ(best, 5000) << "the worst plan is " << worst << " times the best";
}

TEST(OffsetAssignment, LargeInstancesAreValid) {
  std::mt19937 random(21);
  for (int instance = 0; instance < 20; ++instance) {
    std::vector<Lifetime> lifetimes = randomLifetimes(random, 300, 100);
    OffsetPlan plan = assignOffsets(lifetimes);
    expectValid(lifetimes, plan);
    EXPECT_LE(static_cast<double>(plan.peakBytes), 1.12 * static_cast<double>(plan.lowerBound));
  }
}

} // namespace
} // namespace weft
