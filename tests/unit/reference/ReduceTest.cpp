#include "kernels/reference/Reduce.h"
#include "tests/unit/reference/Values.h"

namespace weft::reference {
namespace {

constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min(), kMax32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min(), kMax64 = std::numeric_limits<int64_t>::max();

TEST(Reduce, KindsHaveTheNamesOfTheIr) {
  for (int kind = 0; kind <= static_cast<int>(Reduction::Or); ++kind)
    EXPECT_EQ(reductionFromName(name(static_cast<Reduction>(kind))), static_cast<Reduction>(kind));
  EXPECT_EQ(reductionFromName("sum"), Reduction::Sum);
  EXPECT_EQ(reductionFromName("mean"), std::nullopt);
}

TEST(Reduce, SumsAnyDimensions) {
  Tensor x = reals({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_VALUE(reduce(Reduction::Sum, x, {0}), reals({3}, {5, 7, 9}));
  EXPECT_VALUE(reduce(Reduction::Sum, x, {1}), reals({2}, {6, 15}));
  EXPECT_VALUE(reduce(Reduction::Sum, x, {1, 0}), reals({}, {21}));
  EXPECT_VALUE(reduce(Reduction::Sum, x, {}), x);
  EXPECT_VALUE(reduce(Reduction::Sum, reals({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), {0, 2}),
               reals({2}, {14, 22}));
  EXPECT_VALUE(reduce(Reduction::Sum, scalar(3), {}), scalar(3));
}

TEST(Reduce, HasTheOtherKinds) {
  Tensor x = reals({2, 3}, {1, -2, 3, 4, 5, -6});
  EXPECT_VALUE(reduce(Reduction::Max, x, {1}), reals({2}, {3, 5}));
  EXPECT_VALUE(reduce(Reduction::Min, x, {0}), reals({3}, {1, -2, -6}));
  EXPECT_VALUE(reduce(Reduction::Product, x, {1}), reals({2}, {-6, -120}));
  EXPECT_VALUE(reduce(Reduction::And, booleans({2, 2}, {1, 1, 1, 0}), {1}), booleans({2}, {1, 0}));
  EXPECT_VALUE(reduce(Reduction::Or, booleans({2, 2}, {0, 0, 1, 0}), {1}), booleans({2}, {0, 1}));
  EXPECT_VALUE(reduce(Reduction::And, integers({2}, {12, 10}), {0}), integers({}, {8}));
  EXPECT_VALUE(reduce(Reduction::Or, integers({2}, {12, 10}), {0}), integers({}, {14}));
  EXPECT_VALUE(reduce(Reduction::Max, integers({2}, {kMin64, kMin64 + 1}, DType::I64), {0}),
               integers({}, {kMin64 + 1}, DType::I64));
  EXPECT_VALUE(reduce(Reduction::Min, integers({2}, {kMax32, kMin32}), {0}), integers({}, {kMin32}));
}

TEST(Reduce, MaxAndMinOfAnythingWithNaNAreNaN) {
  for (Reduction kind : {Reduction::Max, Reduction::Min})
    EXPECT_VALUE(reduce(kind, reals({3, 3}, {kNaN, 1, 2, 1, kNaN, 2, 1, 2, kNaN}), {1}),
                 reals({3}, {kNaN, kNaN, kNaN}));
}

TEST(Reduce, OverNothingGivesTheNeutralElement) {
  EXPECT_VALUE(reduce(Reduction::Sum, reals({2, 0}, {}), {1}), reals({2}, {0, 0}));
  EXPECT_VALUE(reduce(Reduction::Max, reals({0}, {}), {0}), reals({}, {-kInfinity}));
  EXPECT_VALUE(reduce(Reduction::Min, reals({0}, {}), {0}), reals({}, {kInfinity}));
  EXPECT_VALUE(reduce(Reduction::Product, reals({0}, {}), {0}), reals({}, {1}));
  EXPECT_VALUE(reduce(Reduction::Max, integers({0}, {}), {0}), integers({}, {kMin32}));
  EXPECT_VALUE(reduce(Reduction::Min, integers({0}, {}), {0}), integers({}, {kMax32}));
  EXPECT_VALUE(reduce(Reduction::Max, integers({0}, {}, DType::I64), {0}),
               integers({}, {kMin64}, DType::I64));
  EXPECT_VALUE(reduce(Reduction::Min, integers({0}, {}, DType::I64), {0}),
               integers({}, {kMax64}, DType::I64));
  EXPECT_VALUE(reduce(Reduction::Product, integers({0}, {}), {0}), integers({}, {1}));
  EXPECT_VALUE(reduce(Reduction::And, booleans({0}, {}), {0}), booleans({}, {1}));
  EXPECT_VALUE(reduce(Reduction::And, integers({0}, {}), {0}), integers({}, {-1}));
  EXPECT_VALUE(reduce(Reduction::Or, booleans({0}, {}), {0}), booleans({}, {0}));
}

TEST(Reduce, OfIntegersWraps) {
  EXPECT_VALUE(reduce(Reduction::Sum, integers({2}, {kMax32, 1}), {0}), integers({}, {kMin32}));
  EXPECT_VALUE(reduce(Reduction::Product, integers({2}, {65536, 65536}), {0}), integers({}, {0}));
}

TEST(Reduce, RefusesTypesAndDimensions) {
  EXPECT_REFUSED(reduce(Reduction::Sum, booleans({1}, {1}), {0}),
                 "reduce sum: the operand must be i32, i64 or of a float type, it is tensor<1xi1>");
  EXPECT_REFUSED(reduce(Reduction::Or, reals({1}, {1}), {0}),
                 "reduce or: the operand must be i1, i32 or i64, it is tensor<1xf32>");
  EXPECT_REFUSED(reduce(Reduction::Max, reals({1}, {1}), {1}),
                 "reduce max: dimension 1 is not one of tensor<1xf32>");
  EXPECT_REFUSED(reduce(Reduction::Max, reals({1}, {1}), {-1}),
                 "reduce max: dimension -1 is not one of tensor<1xf32>");
  EXPECT_REFUSED(reduce(Reduction::Min, reals({1}, {1}), {0, 0}),
                 "reduce min: dimension 0 is listed twice in [0, 0]");
  EXPECT_REFUSED(reduce(Reduction::Sum, Tensor(), {}),
                 "reduce sum: tensor<f32> needs 1 reals, it holds 0 reals and 0 integers");
}

TEST(CumulativeSum, IsInclusiveAlongOneDimension) {
  Tensor x = reals({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_VALUE(cumulativeSum(x, 1), reals({2, 3}, {1, 3, 6, 4, 9, 15}));
  EXPECT_VALUE(cumulativeSum(x, 0), reals({2, 3}, {1, 2, 3, 5, 7, 9}));
  EXPECT_VALUE(cumulativeSum(integers({2}, {kMax32, 1}), 0), integers({2}, {kMax32, kMin32}));
  EXPECT_VALUE(cumulativeSum(reals({0, 3}, {}), 0), reals({0, 3}, {}));
  EXPECT_REFUSED(cumulativeSum(x, 2), "cumulative_sum: dimension 2 is not one of tensor<2x3xf32>");
  EXPECT_REFUSED(cumulativeSum(booleans({1}, {1}), 0),
                 "cumulative_sum: the operand must be i32, i64 or of a float type, it is tensor<1xi1>");
}

} // namespace
} // namespace weft::reference
