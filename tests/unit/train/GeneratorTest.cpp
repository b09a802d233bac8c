#include "runtime/train/Generator.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace weft {
namespace {

constexpr std::array<float, 4> kLogits = {0.0f, 2.0f, 2.0f, 1.0f};

TEST(SampleToken, WithoutTemperatureTakesTheLikeliestAndOfEqualsTheFirst) {
  EXPECT_EQ(sampleToken(kLogits, 0, 0, 0.999), 1);
}

TEST(SampleToken, TopKLeavesTheLikeliest) {
  for (double uniform : {0.0, 0.3, 0.49})
    EXPECT_EQ(sampleToken(kLogits, 1, 2, uniform), 1);
  for (double uniform : {0.51, 0.9, 1 - 0x1p-24})
    EXPECT_EQ(sampleToken(kLogits, 1, 2, uniform), 2);
}

TEST(SampleToken, EachTokenHasItsShareOfTheUnitInterval) {
  double sum = 0;
  for (float logit : kLogits)
    sum += std::exp(logit / 0.5);
  std::array<int, 4> counts = {};
  constexpr int draws = 100000;
  for (int i = 0; i < draws; ++i)
    ++counts[static_cast<size_t>(sampleToken(kLogits, 0.5, 0, (i + 0.5) / draws))];
  for (size_t token = 0; token < counts.size(); ++token)
    EXPECT_NEAR(counts[token] / static_cast<double>(draws), std::exp(kLogits[token] / 0.5) / sum, 1e-4);
}

TEST(SampleToken, HugeLogitsDoNotOverflow) {
  constexpr std::array<float, 2> huge = {3e38f, -3e38f};
  EXPECT_EQ(sampleToken(huge, 1e-3, 0, 0.999), 0);
}

} // namespace
} // namespace weft
