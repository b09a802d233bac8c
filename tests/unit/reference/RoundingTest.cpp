// Rounding once, to nearest even, with subnormals and overflow, against known values and an exhaustive
// search.
#include "kernels/reference/Rounding.h"
#include "kernels/reference/Bytes.h"
#include "tests/unit/reference/Values.h"

#include <random>

namespace weft::reference {
namespace {

TEST(Rounding, GoesToTheNearestValueAndTiesToEven) {
  EXPECT_EQ(roundToType(1 + 0x1p-8, DType::BF16), 1.0);        // halfway: 1 is even
  EXPECT_EQ(roundToType(1 + 0x3p-8, DType::BF16), 1 + 0x1p-6); // halfway: up to even
  EXPECT_EQ(roundToType(1 + 0x1p-8 + 0x1p-40, DType::BF16), 1 + 0x1p-7);
  EXPECT_EQ(roundToType(1 + 0x1p-11, DType::F16), 1.0);
  EXPECT_EQ(roundToType(1 + 0x3p-11, DType::F16), 1 + 0x1p-9);
  EXPECT_EQ(roundToType(1 + 0x1p-24, DType::F32), 1.0);
  EXPECT_EQ(roundToType(1 + 0x3p-24, DType::F32), 1 + 0x1p-22);
  EXPECT_EQ(roundToType(-(1 + 0x3p-8), DType::BF16), -(1 + 0x1p-6));
  EXPECT_EQ(roundToType(0.1, DType::F64), 0.1);
}

TEST(Rounding, HappensOnceAndNotThroughFloat32) {
  // Just above a tie of bf16, by less than float32 can see: through float32 it would become the tie and go to
  // even.
  double value = 1 + 0x1p-8 + 0x1p-30;
  EXPECT_EQ(roundToType(value, DType::BF16), 1 + 0x1p-7);
  EXPECT_EQ(roundToType(roundToType(value, DType::F32), DType::BF16), 1.0);
}

TEST(Rounding, KeepsSubnormals) {
  EXPECT_EQ(roundToType(0x1p-24, DType::F16), 0x1p-24);
  EXPECT_EQ(roundToType(0x1p-25, DType::F16), 0.0); // halfway to the smallest: 0 is even
  EXPECT_EQ(roundToType(0x1.8p-25, DType::F16), 0x1p-24);
  EXPECT_EQ(roundToType(0x3p-25, DType::F16), 0x1p-23);
  EXPECT_EQ(roundToType(0x1p-133, DType::BF16), 0x1p-133);
  EXPECT_EQ(roundToType(0x1p-134, DType::BF16), 0.0);
  EXPECT_EQ(roundToType(0x1p-149, DType::F32), 0x1p-149);
  EXPECT_EQ(roundToType(0x1p-150, DType::F32), 0.0);
  EXPECT_EQ(roundToType(0x1.00001p-150, DType::F32), 0x1p-149);
  EXPECT_EQ(roundToType(0x1p-1074, DType::BF16), 0.0);
}

TEST(Rounding, RoundsAcrossTheBorderOfSubnormals) {
  EXPECT_EQ(roundToType(0x1p-14 - 0x1p-26, DType::F16), 0x1p-14);
  EXPECT_EQ(roundToType(0x1p-126 - 0x1p-136, DType::BF16), 0x1p-126);
}

TEST(Rounding, OverflowsToInfinityFromHalfAStepAboveTheLargest) {
  EXPECT_EQ(roundToType(65504, DType::F16), 65504);
  EXPECT_EQ(roundToType(65519.999, DType::F16), 65504);
  EXPECT_EQ(roundToType(65520, DType::F16), kInfinity);
  EXPECT_EQ(roundToType(-65520, DType::F16), -kInfinity);
  EXPECT_EQ(roundToType(0x1.FEp127, DType::BF16), 0x1.FEp127);
  EXPECT_EQ(roundToType(0x1.FEFp127, DType::BF16), 0x1.FEp127);
  EXPECT_EQ(roundToType(0x1.FFp127, DType::BF16), kInfinity);
  EXPECT_EQ(roundToType(1e300, DType::F32), kInfinity);
  EXPECT_EQ(roundToType(1e308, DType::BF16), kInfinity);
}

TEST(Rounding, KeepsZerosSignsInfinitiesAndNaN) {
  for (DType type : {DType::BF16, DType::F16, DType::F32, DType::F64}) {
    EXPECT_TRUE(sameBits(roundToType(-0.0, type), -0.0));
    EXPECT_TRUE(sameBits(roundToType(-0x1p-1070, type), type == DType::F64 ? -0x1p-1070 : -0.0));
    EXPECT_EQ(roundToType(-kInfinity, type), -kInfinity);
    EXPECT_TRUE(std::isnan(roundToType(kNaN, type)));
  }
}

TEST(Rounding, EveryValueOfSixteenBitsIsAFixedPointOfRoundingAndOfTheBytes) {
  for (DType type : {DType::BF16, DType::F16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      std::byte stored[2] = {std::byte(bits & 0xFF), std::byte(bits >> 8)};
      absl::StatusOr<Tensor> value = fromBytes({type, {}}, stored);
      ASSERT_TRUE(value.ok());
      double real = value->reals[0];
      ASSERT_TRUE(sameBits(roundToType(real, type), real)) << bits;
      if (std::isnan(real))
        continue;
      absl::StatusOr<std::vector<std::byte>> again = toBytes(*value);
      ASSERT_TRUE(again.ok());
      ASSERT_TRUE((*again)[0] == stored[0] && (*again)[1] == stored[1]) << bits;
    }
}

TEST(Rounding, NoOtherValueIsNearer) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> fraction(1, 2);
  std::uniform_int_distribution<int> exponent(-30, 18);
  for (int i = 0; i < 20000; ++i) {
    double value = std::ldexp(fraction(random), exponent(random));
    double rounded = roundToType(value, DType::F16);
    if (!std::isfinite(rounded)) {
      ASSERT_GE(value, 65520);
      continue;
    }
    double step = std::ldexp(1.0, std::max(std::ilogb(value), -14) - 10);
    ASSERT_LE(std::fabs(rounded - value), step / 2) << value;
    ASSERT_EQ(std::fmod(rounded, 0x1p-24), 0) << value;
  }
}

TEST(Rounding, OfATensorKeepsItsTypeAndLeavesIntegers) {
  Tensor x = reals({2}, {1 + 0x1p-8, 0.1}, DType::F32);
  roundTo(x, DType::BF16);
  EXPECT_VALUE(absl::StatusOr<Tensor>(x), reals({2}, {1, 0.10009765625}, DType::F32));
  Tensor n = integers({1}, {16777217});
  roundTo(n, DType::F32);
  EXPECT_VALUE(absl::StatusOr<Tensor>(n), integers({1}, {16777217}));
}

} // namespace
} // namespace weft::reference
