//===- LowerBoundTest.cpp - Nothing is shorter than the lower bound -------===//
#include "passes/pipeline/schedules/LowerBound.h"
#include "passes/pipeline/schedules/AutoSchedule.h"

#include "Exhaustive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

namespace weft::schedules {
namespace {

struct Tally {
  int instances = 0, boundReached = 0, autoShortest = 0;
  double worstAuto = 0; ///< auto's span over the shortest
};

void compare(int ranks, int chunks, int microbatches, int heldLimit, const WholeTimes &whole, Tally &tally) {
  // Times are a rank's share: chunks take their part of it.
  const ActionTimes times = {
      static_cast<double>(whole.forward * chunks), static_cast<double>(whole.backwardInput * chunks),
      static_cast<double>(whole.backwardWeight * chunks), static_cast<double>(whole.transfer)};
  absl::StatusOr<AutoSchedule> found = searchSchedule({ranks, microbatches, chunks, heldLimit, times});
  if (!found.ok()) {
    EXPECT_EQ(chunks, 2) << found.status(); // with one chunk there is always a schedule
    return;
  }
  PipelineSchedule shape = makeSchedule("", ranks, chunks, microbatches, found->schedule.layout);
  const int known = static_cast<int>(std::lround(found->span));
  ASSERT_EQ(known, found->span);
  const int shortest = shortestSpan(shape, whole, heldLimit, known);
  EXPECT_LE(found->lowerBound, shortest + 1e-9)
      << ranks << " ranks, " << chunks << " chunks, " << microbatches << " microbatches, held " << heldLimit
      << ", times " << whole.forward << " " << whole.backwardInput << " " << whole.backwardWeight << " "
      << whole.transfer;
  ++tally.instances;
  tally.boundReached += found->lowerBound > shortest - 1e-9;
  tally.autoShortest += known == shortest;
  tally.worstAuto = std::max(tally.worstAuto, found->span / shortest);
}

constexpr WholeTimes kTimes[] = {{1, 1, 1, 0}, {2, 2, 1, 0}, {1, 2, 1, 0}, {1, 1, 2, 0}, {3, 1, 1, 0},
                                 {1, 3, 2, 0}, {1, 1, 1, 1}, {2, 3, 1, 1}, {2, 2, 3, 2}};

TEST(LowerBound, IsBelowTheShortestOfAllSchedules) {
  Tally tally;
  for (const WholeTimes &times : kTimes)
    for (int ranks = 1; ranks <= 3; ++ranks)
      for (int microbatches = 1; microbatches <= 4; ++microbatches)
        for (int heldLimit = 1; heldLimit <= microbatches; ++heldLimit)
          compare(ranks, 1, microbatches, heldLimit, times, tally);
  std::printf(
      "%d instances; the bound is the shortest span in %d, auto finds it in %d, at worst %.3f times it\n",
      tally.instances, tally.boundReached, tally.autoShortest, tally.worstAuto);
  EXPECT_EQ(tally.instances, 9 * 3 * 10);
}

TEST(LowerBound, IsBelowTheShortestOfTwoChunksToo) {
  Tally tally;
  for (const WholeTimes &times : kTimes)
    for (int ranks = 1; ranks <= 2; ++ranks)
      for (int microbatches = 1; microbatches <= 2; ++microbatches)
        for (int heldLimit = 2; heldLimit <= 2 * microbatches; ++heldLimit)
          compare(ranks, 2, microbatches, heldLimit, times, tally);
  std::printf(
      "%d instances of two chunks; the bound is the shortest span in %d, auto finds it in %d, at worst %.3f "
      "times it\n",
      tally.instances, tally.boundReached, tally.autoShortest, tally.worstAuto);
  EXPECT_GE(tally.instances, 50);
}

TEST(LowerBound, SaysWhatEachObservationCosts) {
  const auto bound = [](int microbatches, int heldLimit, const ActionTimes &times) {
    return spanLowerBound(makeSchedule("", 4, 1, microbatches, StageLayout::Loop), times, heldLimit);
  };
  // Work alone, with enough memory and microbatches.
  EXPECT_EQ(bound(100, 100, {1, 1, 1, 0}), 300);
  // As much memory as 1F1B: ZB-H1, (p-1)(F+B-W), and each way costs its transfers.
  EXPECT_EQ(bound(12, 4, {3, 4, 2, 0}), 12 * 9 + 3 * (3 + 4 - 2));
  EXPECT_EQ(bound(12, 4, {3, 4, 2, 1}), 12 * 9 + 3 * (3 + 4 - 2) + 3 * 4);
  // One microbatch: there and back, and its weight gradient.
  EXPECT_EQ(bound(1, 1, {3, 4, 2, 1}), 4 * 7 + 3 * 2 + 2);
}

} // namespace
} // namespace weft::schedules
