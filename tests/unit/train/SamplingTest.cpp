#include "runtime/train/Sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace weft {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr std::array<float, 4> kLogits = {0.0f, 2.0f, 2.0f, 1.0f};

GenerateConfig sampling(double temperature, int64_t topK = 0, double topP = 1) {
  GenerateConfig options;
  options.temperature = temperature, options.topK = topK, options.topP = topP;
  return options;
}

std::vector<int32_t> tokensKept(std::span<const float> logits, const GenerateConfig &options) {
  std::vector<int32_t> tokens;
  for (const TokenChance &chance : tokenChances(logits, options))
    tokens.push_back(chance.token);
  return tokens;
}

std::vector<double> probabilities(std::span<const float> logits, const GenerateConfig &options) {
  std::vector<double> values;
  for (const TokenChance &chance : tokenChances(logits, options))
    values.push_back(chance.probability);
  return values;
}

TEST(SampleToken, WithoutTemperatureTakesTheLikeliestAndOfEqualsTheFirst) {
  EXPECT_EQ(sampleToken(kLogits, sampling(0), 0.999), 1);
}

TEST(SampleToken, TopKLeavesTheLikeliest) {
  for (double uniform : {0.0, 0.3, 0.49})
    EXPECT_EQ(sampleToken(kLogits, sampling(1, 2), uniform), 1);
  for (double uniform : {0.51, 0.9, 1 - 0x1p-24})
    EXPECT_EQ(sampleToken(kLogits, sampling(1, 2), uniform), 2);
}

TEST(SampleToken, EachTokenHasItsShareOfTheUnitInterval) {
  double sum = 0;
  for (float logit : kLogits)
    sum += std::exp(logit / 0.5);
  std::array<int, 4> counts = {};
  constexpr int draws = 100000;
  for (int i = 0; i < draws; ++i)
    ++counts[static_cast<size_t>(sampleToken(kLogits, sampling(0.5), (i + 0.5) / draws))];
  for (size_t token = 0; token < counts.size(); ++token)
    EXPECT_NEAR(counts[token] / static_cast<double>(draws), std::exp(kLogits[token] / 0.5) / sum, 1e-4);
}

TEST(SampleToken, HugeLogitsDoNotOverflow) {
  constexpr std::array<float, 2> huge = {3e38f, -3e38f};
  EXPECT_EQ(sampleToken(huge, sampling(1e-3), 0.999), 0);
}

// Logarithms of 0.5, 0.3, 0.15, 0.05.
const std::array<float, 4> kShares = {std::log(0.15f), std::log(0.5f), std::log(0.05f), std::log(0.3f)};

TEST(TokenChances, TopPKeepsTheFewestLikeliestThatHaveItsShare) {
  EXPECT_THAT(tokensKept(kShares, sampling(1, 0, 0.4)), ElementsAre(1));
  EXPECT_THAT(tokensKept(kShares, sampling(1, 0, 0.6)), ElementsAre(1, 3));
  EXPECT_THAT(tokensKept(kShares, sampling(1, 0, 0.9)), ElementsAre(1, 3, 0));
  EXPECT_THAT(tokensKept(kShares, sampling(1, 0, 0.97)), ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(tokensKept(kShares, sampling(1, 0, 1)), ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(probabilities(kShares, sampling(1, 0, 0.6)),
              ElementsAre(DoubleNear(0.625, 1e-6), DoubleNear(0.375, 1e-6)));
}

TEST(TokenChances, TopPOfZeroIsTheLikeliest) {
  EXPECT_THAT(tokensKept(kShares, sampling(1, 0, 0)), ElementsAre(1));
}

TEST(TokenChances, TopPIsAShareOfWhatTopKLeft) {
  // Of 0.5 and 0.3 the first has 0.625.
  EXPECT_THAT(tokensKept(kShares, sampling(1, 2, 0.6)), ElementsAre(1));
  EXPECT_THAT(tokensKept(kShares, sampling(1, 3, 0.6)), ElementsAre(1, 3));
}

TEST(TokenChances, TopPIsAShareAtItsTemperature) {
  // At a temperature of 1/2 the shares are squares: 0.25, 0.09, 0.0225, 0.0025 of 0.365.
  EXPECT_THAT(tokensKept(kShares, sampling(0.5, 0, 0.6)), ElementsAre(1));
  EXPECT_THAT(probabilities(kShares, sampling(0.5, 0, 0.9)),
              ElementsAre(DoubleNear(0.25 / 0.34, 1e-6), DoubleNear(0.09 / 0.34, 1e-6)));
}

TEST(SampleToken, ARoundedSumPicksTheLast) {
  EXPECT_EQ(sampleToken(kShares, sampling(1), 1 - std::numeric_limits<double>::epsilon() / 2), 2);
}

} // namespace
} // namespace weft
