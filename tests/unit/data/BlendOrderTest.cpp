//===- BlendOrderTest.cpp - Which input gives the k-th sample -------------===//
#include "runtime/data/BlendOrder.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

BlendOrder blend(std::vector<double> weights) { return *BlendOrder::create(weights); }

std::string error(std::vector<double> weights) {
  return std::string(BlendOrder::create(weights).status().message());
}

TEST(BlendOrder, OneInputIsCounted) {
  BlendOrder order = blend({3.0});
  for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{70000}, int64_t{1} << 40})
    EXPECT_EQ(order.pick(k), (BlendOrder::Pick{0, k}));
}

TEST(BlendOrder, TheIndexIsTheNumberOfEarlierSamplesOfThatInput) {
  BlendOrder order = blend({0.5, 0.2, 0.29, 0.01});
  std::vector<int64_t> counts(4);
  for (int64_t k = 0; k < 150'000; ++k) {
    BlendOrder::Pick pick = order.pick(k);
    ASSERT_EQ(pick.index, counts[pick.input]) << "sample " << k;
    ++counts[pick.input];
  }
}

TEST(BlendOrder, EveryWindowHasTheShares) {
  std::vector<double> weights = {7, 2, 1};
  BlendOrder order = blend(weights);
  std::vector<int64_t> counts(3);
  for (int64_t k = 0; k < 100'000; ++k) {
    ++counts[order.pick(k).input];
    for (int d = 0; d < 3; ++d)
      ASSERT_NEAR(static_cast<double>(counts[d]), weights[d] / 10 * static_cast<double>(k + 1), 9)
          << "sample " << k;
  }
}

TEST(BlendOrder, BadWeightsAreNamed) {
  EXPECT_EQ(error({}), "data.train: no input is given");
  EXPECT_EQ(error({1, 0}), "data.train[1].weight: 0 is not a number above 0");
  EXPECT_EQ(error({-1}), "data.train[0].weight: -1 is not a number above 0");
  EXPECT_EQ(error({std::numeric_limits<double>::infinity()}),
            "data.train[0].weight: inf is not a number above 0");
  EXPECT_EQ(error({1, 1e-9}),
            "data.train[1].weight: 1e-09 is less than 1/65536 of the sum of the weights, 1. Raise "
            "it or leave the input out.");
  EXPECT_EQ(error({1e308, 1e308}), "data.train: the weights are too large to be added");
}

} // namespace
} // namespace weft
