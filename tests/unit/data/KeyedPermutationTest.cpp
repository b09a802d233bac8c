//===- KeyedPermutationTest.cpp - A shuffle that is a function ------------===//
#include "runtime/data/KeyedPermutation.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace weft {
namespace {

std::vector<int64_t> order(uint64_t key, int64_t size) {
  KeyedPermutation permutation(key, size);
  std::vector<int64_t> result;
  for (int64_t i = 0; i < size; ++i)
    result.push_back(permutation(i));
  return result;
}

TEST(KeyedPermutation, IsABijectionForEverySize) {
  for (int64_t size = 1; size <= 300; ++size) {
    std::vector<bool> seen(size);
    for (int64_t value : order(size * 7, size)) {
      ASSERT_GE(value, 0);
      ASSERT_LT(value, size);
      ASSERT_FALSE(seen[value]) << "size " << size;
      seen[value] = true;
    }
  }
}

TEST(KeyedPermutation, IsTheSameForeverAndEverywhere) {
  EXPECT_EQ(order(1, 10), (std::vector<int64_t>{2, 1, 4, 0, 9, 5, 3, 6, 8, 7}));
}

TEST(KeyedPermutation, AnotherKeyIsAnotherOrder) {
  int equal = 0;
  std::vector<int64_t> a = order(orderKey(1, 0, 0), 1000);
  for (uint64_t key : {orderKey(2, 0, 0), orderKey(1, 1, 0), orderKey(1, 0, 1)}) {
    std::vector<int64_t> b = order(key, 1000);
    for (int i = 0; i < 1000; ++i)
      equal += a[i] == b[i];
  }
  EXPECT_LT(equal, 15);
}

TEST(KeyedPermutation, EveryPlaceIsEquallyLikely) {
  // Element 0 of [0, 10) under 10,000 keys: chi-squared with 9 degrees of freedom is below 27.9 but once in
  // 1,000.
  for (int64_t element : {0, 5, 9}) {
    std::vector<int> counts(10);
    for (uint64_t seed = 0; seed < 10000; ++seed)
      ++counts[KeyedPermutation(orderKey(seed, 0, 0), 10)(element)];
    double chiSquared = 0;
    for (int count : counts)
      chiSquared += (count - 1000.0) * (count - 1000.0) / 1000.0;
    EXPECT_LT(chiSquared, 27.9);
  }
}

TEST(KeyedPermutation, NeighborsAreScattered) {
  std::vector<int64_t> values = order(3, 4096);
  double sum = 0;
  for (size_t i = 1; i < values.size(); ++i)
    sum += std::abs(static_cast<double>(values[i] - values[i - 1]));
  // The mean distance of two random places is a third of the size.
  EXPECT_NEAR(sum / 4095 / 4096, 1.0 / 3, 0.02);
}

TEST(KeyedPermutation, HugeSizesCostTheSame) {
  KeyedPermutation permutation(11, (int64_t{1} << 61) + 12345);
  for (int64_t i = 0; i < 1000; ++i) {
    int64_t value = permutation(i);
    EXPECT_GE(value, 0);
    EXPECT_LT(value, (int64_t{1} << 61) + 12345);
  }
}

} // namespace
} // namespace weft
