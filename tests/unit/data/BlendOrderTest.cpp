//===- BlendOrderTest.cpp - Which input gives the k-th sample -------------===//
#include "runtime/data/BlendOrder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace weft {
namespace {

BlendOrder blend(std::vector<double> weights) { return *BlendOrder::create(weights); }

std::string error(std::vector<double> weights) {
  return std::string(BlendOrder::create(weights).status().message());
}

/// Whether `count` of the first `k` samples is within less than one sample of weight / sum of them. Exact for
/// weights whose sum and products are integers below 2^53.
bool isWithinOne(int64_t count, int64_t k, double weight, double sum) {
  const double ideal = static_cast<double>(k) * weight, given = static_cast<double>(count) * sum;
  return given - ideal < sum && ideal - given < sum;
}

/// Walks the samples [begin, end) and holds each prefix against the weights, and each index against those
/// before.
void expectExact(const std::vector<double> &weights, int64_t begin, int64_t end) {
  const BlendOrder order = blend(weights);
  double sum = 0;
  for (double weight : weights)
    sum += weight;
  std::vector<int64_t> counts = order.counts(begin);
  BlendOrder::Block block;
  for (int64_t k = begin; k < end; ++k) {
    const BlendOrder::Pick pick = order.pick(k, block);
    ASSERT_EQ(pick.index, counts[static_cast<size_t>(pick.input)]) << "sample " << k;
    ++counts[static_cast<size_t>(pick.input)];
    for (size_t i = 0; i < weights.size(); ++i)
      ASSERT_TRUE(isWithinOne(counts[i], k + 1, weights[i], sum))
          << "input " << i << " gave " << counts[i] << " of the first " << k + 1 << " samples";
  }
}

TEST(BlendOrder, OneInputIsCounted) {
  BlendOrder order = blend({3.0});
  BlendOrder::Block block;
  for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{70000}, int64_t{1} << 40})
    EXPECT_EQ(order.pick(k, block), (BlendOrder::Pick{0, k}));
}

TEST(BlendOrder, EveryPrefixHasTheSharesWithinOneSample) {
  expectExact({7, 2, 1}, 0, 20'000);
  expectExact({50, 20, 29, 1}, 0, 20'000);
  expectExact({1, 1, 1, 1, 1, 1, 1}, 0, 20'000);
  expectExact({3, 3, 2, 2}, 0, 20'000);        // ends of many windows at once
  expectExact({1000, 999, 998, 1}, 0, 20'000); // and hardly any
  expectExact({65536, 1, 1, 3}, 0, 200'000);   // a rare input makes blocks long
}

TEST(BlendOrder, EveryPrefixHoldsForRandomWeights) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> weights(1 + random() % 12);
    const uint64_t most = uint64_t{1} << (1 + random() % 10);
    for (double &weight : weights)
      weight = static_cast<double>(1 + random() % most);
    expectExact(weights, 0, 2'500);
    if (HasFatalFailure())
      FAIL() << "trial " << trial;
  }
}

TEST(BlendOrder, AnyPlaceIsFoundAloneAsByCounting) {
  const BlendOrder order = blend({0.5, 0.2, 0.29, 0.01});
  BlendOrder::Block walked;
  for (int64_t k = 0; k < 30'000; ++k) {
    const BlendOrder::Pick pick = order.pick(k, walked);
    if (k % 97 != 0)
      continue;
    BlendOrder::Block alone;
    ASSERT_EQ(order.pick(k, alone), pick) << "sample " << k;
    ASSERT_EQ(order.counts(k)[static_cast<size_t>(pick.input)], pick.index);
  }
}

TEST(BlendOrder, SharesHoldFarOut) {
  expectExact({7, 2, 1}, int64_t{1} << 45, (int64_t{1} << 45) + 5'000);
  expectExact({123, 45, 6, 789}, 1'000'000'000'000, 1'000'000'005'000);
}

TEST(BlendOrder, FractionsAreTakenAsTheyAre) {
  // 0.1 is not a tenth; after 2^49 samples the difference would be seen if shares were rounded.
  const std::vector<double> weights = {0.1, 0.7, 0.2};
  const BlendOrder order = blend(weights);
  const int64_t k = int64_t{1} << 49;
  const std::vector<int64_t> counts = order.counts(k);
  const long double sum = static_cast<long double>(weights[0]) + weights[1] + weights[2];
  for (size_t i = 0; i < weights.size(); ++i)
    EXPECT_LT(std::abs(static_cast<long double>(counts[i]) - static_cast<long double>(k) * weights[i] / sum),
              1.0L);
}

TEST(BlendOrder, BadWeightsAreNamed) {
  EXPECT_EQ(error({}), "data.train: no input is given");
  EXPECT_EQ(error({1, 0}), "data.train[1].weight: 0 is not a number above 0");
  EXPECT_EQ(error({-1}), "data.train[0].weight: -1 is not a number above 0");
  EXPECT_EQ(error({std::numeric_limits<double>::infinity()}),
            "data.train[0].weight: inf is not a number above 0");
  EXPECT_EQ(error({1, 1e-9}),
            "data.train[1].weight: 1e-09 is less than 1/1048576 of the sum of the weights, 1. Raise "
            "it or leave the input out.");
  EXPECT_EQ(error({1e308, 1e308}), "data.train: the weights are too large to be added");
  const std::vector<double> none;
  EXPECT_EQ(BlendOrder::create(none, "data.stages[1].train").status().message(),
            "data.stages[1].train: no input is given");
}

} // namespace
} // namespace weft
