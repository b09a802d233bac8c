#include "kernels/collective/Fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace weft::testing {
namespace {

using ::testing::ElementsAre;

template <typename T>
std::vector<T> foldAll(ReduceKind kind, DType type, const std::vector<std::vector<T>> &sources) {
  std::vector<const void *> pointers;
  for (const std::vector<T> &source : sources)
    pointers.push_back(source.data());
  std::vector<T> result(sources[0].size());
  findFold(kind, type)(pointers, 0, result.data(), static_cast<int64_t>(result.size()));
  return result;
}

TEST(Fold, AddsInTheOrderOfTheSources) {
  // 1e8 swallows a 1 that comes after it, and not one that is added to -1e8's remainder.
  EXPECT_THAT(foldAll<float>(ReduceKind::Sum, DType::F32, {{1e8f}, {-1e8f}, {1}}), ElementsAre(1));
  EXPECT_THAT(foldAll<float>(ReduceKind::Sum, DType::F32, {{1}, {1e8f}, {-1e8f}}), ElementsAre(0));
}

TEST(Fold, RoundsNarrowFloatsOnceAtTheEnd) {
  // In bf16, 256 + 1 is 256: but 256 + 1 + 1 is 258.
  constexpr uint16_t k256 = 0x4380, k1 = 0x3F80, k258 = 0x4381;
  EXPECT_THAT(foldAll<uint16_t>(ReduceKind::Sum, DType::BF16, {{k256}, {k1}, {k1}}), ElementsAre(k258));
}

TEST(Fold, StartsAtAnOffsetAndMayReplaceASource) {
  std::vector<int32_t> first = {1, 2, 3, 4}, second = {10, 20, 30, 40};
  std::vector<const void *> sources = {first.data(), second.data()};
  findFold(ReduceKind::Sum, DType::I32)(sources, 4, second.data() + 1, 2);
  EXPECT_THAT(second, ElementsAre(10, 22, 33, 40));
}

TEST(Fold, TruthHasNoSum) {
  EXPECT_EQ(findFold(ReduceKind::Sum, DType::I1), nullptr);
  EXPECT_THAT(foldAll<uint8_t>(ReduceKind::Max, DType::I1, {{0, 1, 0}, {0, 0, 1}}), ElementsAre(0, 1, 1));
  EXPECT_THAT(foldAll<uint8_t>(ReduceKind::Min, DType::I1, {{0, 1, 1}, {0, 0, 1}}), ElementsAre(0, 0, 1));
}

TEST(Fold, LogarithmsOfSumsNeitherOverflowNorLoseTheSmallerOne) {
  auto of = [](const std::vector<double> &parts) {
    std::vector<std::vector<double>> sources;
    for (double part : parts)
      sources.push_back({part});
    return foldAll<double>(ReduceKind::LogSumExp, DType::F64, sources)[0];
  };
  EXPECT_DOUBLE_EQ(of({std::log(2.0), std::log(3.0), std::log(5.0)}), std::log(10.0));
  EXPECT_DOUBLE_EQ(of({1000, 1000}), 1000 + std::log(2.0));
  EXPECT_DOUBLE_EQ(of({0, -40}), std::exp(-40.0));
  EXPECT_DOUBLE_EQ(of({-1000, -1001}), -1000 + std::log1p(std::exp(-1.0)));
}

TEST(Fold, MinusInfinityIsTheLogarithmOfNothing) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNone = -kInfinity;
  auto of = [](double a, double b) {
    return foldAll<double>(ReduceKind::LogSumExp, DType::F64, {{a}, {b}})[0];
  };
  EXPECT_EQ(of(kNone, 3), 3);
  EXPECT_EQ(of(3, kNone), 3);
  EXPECT_EQ(of(kNone, kNone), kNone);
  EXPECT_EQ(of(kInfinity, kInfinity), kInfinity);
  EXPECT_EQ(of(kInfinity, kNone), kInfinity);
  for (double other : {1.0, kNone, kInfinity}) {
    EXPECT_TRUE(std::isnan(of(std::nan(""), other))) << other;
    EXPECT_TRUE(std::isnan(of(other, std::nan("")))) << other;
  }
}

TEST(Fold, OnlyFloatsHaveALogSumExp) {
  for (DType type : {DType::I1, DType::I32, DType::I64})
    EXPECT_EQ(findFold(ReduceKind::LogSumExp, type), nullptr);
  constexpr uint16_t k1 = 0x3F80, k1AndLog2 = 0x3FD9; // 1.6931 in bf16
  EXPECT_THAT(foldAll<uint16_t>(ReduceKind::LogSumExp, DType::BF16, {{k1}, {k1}}), ElementsAre(k1AndLog2));
}

/// The tree of consecutive leaves, as the definition says it.
float treeOf(const std::vector<float> &leaves) {
  size_t half = leaves.size() / 2;
  if (leaves.size() % 2 == 0)
    return treeOf({leaves.begin(), leaves.begin() + static_cast<ptrdiff_t>(half)}) +
           treeOf({leaves.begin() + static_cast<ptrdiff_t>(half), leaves.end()});
  float sum = leaves[0];
  for (size_t i = 1; i < leaves.size(); ++i)
    sum = sum + leaves[i];
  return sum;
}

/// Numbers of many magnitudes, so that each order of additions gives other bits.
std::vector<float> unevenLeaves(size_t count) {
  std::vector<float> leaves;
  for (size_t i = 0; i < count; ++i)
    leaves.push_back(
        std::ldexp(1.0f + static_cast<float>(i * 37 % 101) / 128.0f, static_cast<int>(i * 13 % 29)) *
        (i % 3 == 0 ? -1.0f : 1.0f));
  return leaves;
}

TEST(Fold, TreeAddsHalvesAndOddNumbersOneAfterAnother) {
  for (size_t ranks : {1, 2, 3, 4, 6, 7, 8, 12, 16}) {
    std::vector<float> leaves = unevenLeaves(ranks);
    std::vector<std::vector<float>> sources;
    for (float leaf : leaves)
      sources.push_back(std::vector<float>(1000, leaf)); // several blocks
    EXPECT_EQ(foldAll<float>(ReduceKind::Tree, DType::F32, sources), std::vector<float>(1000, treeOf(leaves)))
        << ranks;
  }
}

TEST(Fold, TreeOfSubtreesIsTheTree) {
  std::vector<float> leaves = unevenLeaves(24);
  for (size_t ranks : {1, 2, 4, 8}) {
    std::vector<std::vector<float>> sources;
    for (auto begin = leaves.begin(); begin != leaves.end(); begin += 24 / static_cast<ptrdiff_t>(ranks))
      sources.push_back({treeOf({begin, begin + 24 / static_cast<ptrdiff_t>(ranks)})});
    EXPECT_EQ(foldAll<float>(ReduceKind::Tree, DType::F32, sources)[0], treeOf(leaves)) << ranks;
  }
}

TEST(Fold, TreeIsNoSumInOrder) {
  // 1e8 swallows a 3, and not a 6.
  EXPECT_THAT(foldAll<float>(ReduceKind::Sum, DType::F32, {{1e8f}, {3}, {3}, {3}}), ElementsAre(1e8f));
  EXPECT_THAT(foldAll<float>(ReduceKind::Tree, DType::F32, {{1e8f}, {3}, {3}, {3}}),
              ElementsAre(100000008.0f));
}

TEST(Fold, TreeRoundsNarrowFloatsAtEachAddition) {
  // In bf16, 256 + 1 is 256, wherever the addition is made.
  constexpr uint16_t k256 = 0x4380, k1 = 0x3F80, k512 = 0x4400;
  EXPECT_THAT(foldAll<uint16_t>(ReduceKind::Tree, DType::BF16, {{k256}, {k1}, {k256}, {k1}}),
              ElementsAre(k512));
}

TEST(Fold, TreeKeepsTheSignOfZeroAndWhatIsNoNumber) {
  auto of = [](float a, float b) { return foldAll<float>(ReduceKind::Tree, DType::F32, {{a}, {b}})[0]; };
  EXPECT_TRUE(std::signbit(of(-0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(of(-0.0f, 0.0f)));
  EXPECT_TRUE(std::isnan(of(std::nanf(""), 1.0f)));
  EXPECT_TRUE(
      std::isnan(of(std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity())));
  EXPECT_EQ(findFold(ReduceKind::Tree, DType::I1), nullptr);
}

TEST(Fold, TreeMayReplaceAnyOfItsSources) {
  for (size_t replaced : {0, 1, 2, 3}) {
    std::vector<std::vector<float>> sources(4, std::vector<float>(600));
    for (size_t source = 0; source < 4; ++source)
      for (size_t i = 0; i < 600; ++i)
        sources[source][i] = unevenLeaves(4)[(source + i) % 4];
    std::vector<float> wanted = foldAll<float>(ReduceKind::Tree, DType::F32, sources);
    std::vector<const void *> pointers;
    for (const std::vector<float> &source : sources)
      pointers.push_back(source.data());
    findFold(ReduceKind::Tree, DType::F32)(pointers, 0, sources[replaced].data(), 600);
    EXPECT_EQ(sources[replaced], wanted) << replaced;
  }
}

TEST(Fold, KindsHaveNames) {
  for (ReduceKind kind :
       {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min, ReduceKind::LogSumExp, ReduceKind::Tree})
    EXPECT_EQ(reduceKindFromName(name(kind)), kind);
  EXPECT_EQ(reduceKindFromName("mean"), std::nullopt);
}

} // namespace
} // namespace weft::testing
