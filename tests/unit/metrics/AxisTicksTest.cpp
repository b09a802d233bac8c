//===- AxisTicksTest.cpp - Round numbers along an axis --------------------===//
#include "runtime/metrics/AxisTicks.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

std::vector<std::string> labels(const std::vector<Tick> &ticks) {
  std::vector<std::string> result;
  for (const Tick &tick : ticks)
    result.push_back(tick.label);
  return result;
}

using Labels = std::vector<std::string>;

TEST(AxisTicks, LinearTicksAreRound) {
  EXPECT_EQ(labels(linearTicks(0, 300, 10)), (Labels{"0", "50", "100", "150", "200", "250", "300"}));
  EXPECT_EQ(labels(linearTicks(1.87, 5.6, 8)),
            (Labels{"2.0", "2.5", "3.0", "3.5", "4.0", "4.5", "5.0", "5.5"}));
  EXPECT_EQ(labels(linearTicks(0.0012, 0.0031, 4)), (Labels{"0.0015", "0.0020", "0.0025", "0.0030"}));
  EXPECT_EQ(labels(linearTicks(0, 25000, 5)), (Labels{"0", "5,000", "10,000", "15,000", "20,000", "25,000"}));
}

TEST(AxisTicks, LinearTicksAreNeverMoreThanWanted) {
  for (double high = 0.01; high < 1e7; high *= 1.37)
    for (int wanted : {3, 8, 12}) {
      size_t count = linearTicks(0, high, wanted).size();
      EXPECT_LE(count, static_cast<size_t>(wanted) + 1) << high;
      EXPECT_GE(count, 2u) << high;
    }
}

TEST(AxisTicks, LogarithmicTicksAreOneTwoFive) {
  EXPECT_EQ(labels(logarithmicTicks(1, 300, 16)), (Labels{"1", "2", "5", "10", "20", "50", "100", "200"}));
  EXPECT_EQ(labels(logarithmicTicks(1, 1e7, 16)),
            (Labels{"1", "10", "100", "1,000", "10,000", "100,000", "1,000,000", "10,000,000"}));
}

} // namespace
} // namespace weft
