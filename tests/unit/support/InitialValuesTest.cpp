#include "runtime/support/InitialValues.h"

#include "kernels/common/Philox.h"

#include "gtest/gtest.h"

#include <cmath>
#include <xxhash.h>

namespace weft {
namespace {

double normalDistribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(NormalQuantile, InvertsTheNormalDistribution) {
  for (double p : {0x1p-33, 1e-9, 1e-6, 1e-3, 0.02, 0.0749, 0.0751, 0.2, 0.4})
    EXPECT_NEAR(normalDistribution(normalQuantile(p)) / p, 1, 1e-13) << p;
}

TEST(NormalQuantile, IsOddAboutOneHalf) {
  EXPECT_EQ(normalQuantile(0.5), 0);
  for (double p : {0x1p-33, 0.25, 0.4375})
    EXPECT_EQ(normalQuantile(1 - p), -normalQuantile(p)) << p;
}

TEST(NormalQuantile, HasTheKnownValues) {
  EXPECT_NEAR(normalQuantile(0.975), 1.959963984540054, 1e-15);
  EXPECT_NEAR(normalQuantile(0.75), 0.6744897501960817, 1e-15);
}

TEST(InitialValues, AreDrawnByTheHashOfTheNameWithStepAndSampleZero) {
  InitialValues values(7, "lm_head.weight");
  uint64_t key = philoxKey(7, 0, XXH64("lm_head.weight", 14, 0));
  for (int64_t index : {0, 1, 5, 1000003}) {
    uint32_t bits = philoxBlock(key, 0, index / 4)[index % 4];
    EXPECT_EQ(values.uniform(index), uniformFromBits(bits));
    EXPECT_EQ(values.normal(index), normalQuantile((bits + 0.5) * 0x1p-32));
  }
}

TEST(InitialValues, DifferByNameAndSeed) {
  EXPECT_NE(InitialValues(1, "a").normal(0), InitialValues(1, "b").normal(0));
  EXPECT_NE(InitialValues(1, "a").normal(0), InitialValues(2, "a").normal(0));
}

TEST(InitialValues, HaveTheMomentsOfANormalDistribution) {
  InitialValues values(3, "w");
  constexpr int count = 40000;
  double sum = 0, squares = 0, fourths = 0;
  for (int i = 0; i < count; ++i) {
    double x = values.normal(i);
    sum += x, squares += x * x, fourths += x * x * x * x;
  }
  EXPECT_NEAR(sum / count, 0, 0.02); // four standard deviations each
  EXPECT_NEAR(squares / count, 1, 0.03);
  EXPECT_NEAR(fourths / count, 3, 0.2);
}

} // namespace
} // namespace weft
