#include "tests/unit/reference/Values.h"

namespace weft::reference {
namespace {

TEST(Tensor, IsMadeFromAsManyValuesAsItsShapeHas) {
  EXPECT_VALUE(makeReals(DType::BF16, {2, 1}, {1, 2}), reals({2, 1}, {1, 2}, DType::BF16));
  EXPECT_VALUE(makeIntegers(DType::I64, {}, {7}), integers({}, {7}, DType::I64));
  EXPECT_REFUSED(makeReals(DType::F32, {2, 2}, {1, 2, 3}),
                 "tensor: tensor<2x2xf32> needs 4 reals, it holds 3 reals and 0 integers");
  EXPECT_REFUSED(makeIntegers(DType::I32, {2}, {1}),
                 "tensor: tensor<2xi32> needs 2 integers, it holds 0 reals and 1 integers");
}

TEST(Tensor, RefusesValuesOfAnotherKindAndBeyondTheType) {
  EXPECT_REFUSED(makeReals(DType::I32, {}, {1}), "tensor: i32 is not a float type");
  EXPECT_REFUSED(makeIntegers(DType::F16, {}, {1}), "tensor: f16 is not an integer type");
  EXPECT_REFUSED(makeIntegers(DType::I32, {}, {int64_t{1} << 31}), "tensor: 2147483648 does not fit i32");
  EXPECT_REFUSED(makeIntegers(DType::I1, {}, {2}), "tensor: 2 does not fit i1");
  EXPECT_REFUSED(makeIntegers(DType::I1, {}, {-1}), "tensor: -1 does not fit i1");
  EXPECT_VALUE(makeIntegers(DType::I32, {}, {-(int64_t{1} << 31)}), integers({}, {-(int64_t{1} << 31)}));
}

TEST(Tensor, RefusesImpossibleShapesBeforeAllocating) {
  EXPECT_REFUSED(makeZeros({DType::F32, {2, -1}}), "tensor: tensor<2x-1xf32> has a negative dimension");
  EXPECT_REFUSED(makeZeros({DType::F32, {0, -1}}), "tensor: tensor<0x-1xf32> has a negative dimension");
  EXPECT_REFUSED(makeZeros({DType::I1, {65536, 65536}}),
                 "tensor: tensor<65536x65536xi1> has more than 2^31 elements: too large for the reference");
  int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(makeZeros({DType::F32, {huge, huge, huge}}).ok());
  EXPECT_FALSE(makeZeros({DType::F32, {huge, 0, huge}}).ok());
  EXPECT_VALUE(makeZeros({DType::F32, {5, 0}}), reals({5, 0}, {}));
}

TEST(Tensor, ADefaultOneHoldsNothing) {
  EXPECT_EQ(Tensor().reals.size(), 0u);
  EXPECT_EQ(Tensor().elements(), 1);
}

TEST(Tensor, StridesAreRowMajor) {
  EXPECT_EQ(stridesOf({2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(stridesOf({}), Shape{});
}

TEST(Tensor, IntegersWrapAtTheWidthOfTheirType) {
  EXPECT_EQ(wrapInteger(DType::I32, (int64_t{1} << 31)), -(int64_t{1} << 31));
  EXPECT_EQ(wrapInteger(DType::I32, -1), -1);
  EXPECT_EQ(wrapInteger(DType::I1, -1), 1);
  EXPECT_EQ(wrapInteger(DType::I1, 2), 0);
  EXPECT_EQ(wrapInteger(DType::I64, -5), -5);
}

} // namespace
} // namespace weft::reference
