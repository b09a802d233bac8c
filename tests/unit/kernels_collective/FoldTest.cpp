#include "kernels/collective/Fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(Fold, KindsHaveNames) {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min})
    EXPECT_EQ(reduceKindFromName(name(kind)), kind);
  EXPECT_EQ(reduceKindFromName("mean"), std::nullopt);
}

} // namespace
} // namespace weft::testing
