#include "kernels/reference/Casts.h"
#include "tests/unit/reference/Values.h"

namespace weft::reference {
namespace {

constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min(), kMax32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min(), kMax64 = std::numeric_limits<int64_t>::max();

TEST(Cast, BetweenFloatTypesKeepsTheExactValue) {
  EXPECT_VALUE(cast(reals({2}, {0.1, kNaN}, DType::F64), DType::BF16), reals({2}, {0.1, kNaN}, DType::BF16));
}

TEST(Cast, FromFloatToIntegerTruncatesTowardZeroSaturatesAndMapsNaNToZero) {
  Tensor x = reals({8}, {1.9, -1.9, -0.0, kNaN, kInfinity, -kInfinity, 2147483647.5, -2147483648.5});
  EXPECT_VALUE(cast(x, DType::I32), integers({8}, {1, -1, 0, 0, kMax32, kMin32, kMax32, kMin32}));
  EXPECT_VALUE(cast(x, DType::I64),
               integers({8}, {1, -1, 0, 0, kMax64, kMin64, 2147483647, -2147483648}, DType::I64));
  EXPECT_VALUE(cast(reals({4}, {0x1p63, 0x1.fffffffffffffp62, -0x1p63, -0x1.0000000000001p63}), DType::I64),
               integers({4}, {kMax64, 0x7ffffffffffffc00, kMin64, kMin64}, DType::I64));
}

TEST(Cast, ToBooleanIsNotEqualZero) {
  EXPECT_VALUE(cast(reals({5}, {0, -0.0, 0.3, kNaN, -kInfinity}), DType::I1), booleans({5}, {0, 0, 1, 1, 1}));
  EXPECT_VALUE(cast(integers({3}, {0, 2, -1}), DType::I1), booleans({3}, {0, 1, 1}));
}

TEST(Cast, ToANarrowerIntegerKeepsTheLowBits) {
  EXPECT_VALUE(cast(integers({3}, {kMax64, int64_t{1} << 32, 5}, DType::I64), DType::I32),
               integers({3}, {-1, 0, 5}));
  EXPECT_VALUE(cast(integers({1}, {-5}), DType::I64), integers({1}, {-5}, DType::I64));
  EXPECT_VALUE(cast(booleans({2}, {0, 1}), DType::I32), integers({2}, {0, 1}));
}

TEST(Cast, FromIntegersGivesTheirValue) {
  EXPECT_VALUE(cast(integers({2}, {16777217, -3}), DType::F32), reals({2}, {16777217, -3}));
  EXPECT_VALUE(cast(booleans({2}, {0, 1}), DType::F16), reals({2}, {0, 1}, DType::F16));
  EXPECT_VALUE(cast(integers({0}, {}), DType::F32), reals({0}, {}));
}

TEST(Bitcast, ReinterpretsThirtyTwoBits) {
  EXPECT_VALUE(bitcast(reals({3}, {1.5, -0.0, 0x1p-149}), DType::I32),
               integers({3}, {0x3FC00000, kMin32, 1}));
  EXPECT_VALUE(bitcast(integers({3}, {0x3FC00000, kMin32, 0x7F800000}), DType::F32),
               reals({3}, {1.5, -0.0, kInfinity}));
  EXPECT_VALUE(bitcast(reals({1}, {1 + 0x3p-24}), DType::I32), integers({1}, {0x3F800002}));
}

TEST(Bitcast, RefusesOtherTypes) {
  EXPECT_REFUSED(bitcast(reals({1}, {1}, DType::F64), DType::I64),
                 "bitcast: is between i32 and f32, not from f64 to i64");
  EXPECT_REFUSED(bitcast(Tensor(), DType::I32),
                 "bitcast: tensor<f32> needs 1 reals, it holds 0 reals and 0 integers");
  EXPECT_REFUSED(cast(Tensor(), DType::I32),
                 "cast: tensor<f32> needs 1 reals, it holds 0 reals and 0 integers");
}

} // namespace
} // namespace weft::reference
