#include "kernels/reference/Elementwise.h"
#include "tests/unit/reference/Values.h"

namespace weft::reference {
namespace {

constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min(), kMax32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min(), kMax64 = std::numeric_limits<int64_t>::max();

TEST(Names, AreThoseOfTheIrAndLeadBack) {
  EXPECT_EQ(name(Unary::IsFinite), "is_finite");
  EXPECT_EQ(name(Binary::Remainder), "remainder");
  EXPECT_EQ(name(Comparison::Ge), "ge");
  for (int op = 0; op <= static_cast<int>(Unary::Not); ++op)
    EXPECT_EQ(unaryFromName(name(static_cast<Unary>(op))), static_cast<Unary>(op));
  for (int op = 0; op <= static_cast<int>(Binary::Remainder); ++op)
    EXPECT_EQ(binaryFromName(name(static_cast<Binary>(op))), static_cast<Binary>(op));
  for (int op = 0; op <= static_cast<int>(Comparison::Ge); ++op)
    EXPECT_EQ(comparisonFromName(name(static_cast<Comparison>(op))), static_cast<Comparison>(op));
  EXPECT_EQ(unaryFromName("add"), std::nullopt);
  EXPECT_EQ(binaryFromName("exp"), std::nullopt);
  EXPECT_EQ(comparisonFromName(""), std::nullopt);
}

TEST(Unary, OfReals) {
  EXPECT_VALUE(unary(Unary::Negate, reals({2}, {1, 0})), reals({2}, {-1, -0.0}));
  EXPECT_VALUE(unary(Unary::Abs, reals({3}, {-2, -0.0, -kInfinity})), reals({3}, {2, 0, kInfinity}));
  EXPECT_VALUE(unary(Unary::Exp, reals({2}, {0, -kInfinity})), reals({2}, {1, 0}));
  EXPECT_VALUE(unary(Unary::Log, reals({3}, {1, 0, -1})), reals({3}, {0, -kInfinity, kNaN}));
  EXPECT_VALUE(unary(Unary::Sqrt, reals({2}, {9, -1})), reals({2}, {3, kNaN}));
  EXPECT_VALUE(unary(Unary::Rsqrt, reals({2}, {4, 0})), reals({2}, {0.5, kInfinity}));
  EXPECT_VALUE(unary(Unary::Tanh, reals({3}, {0, 1000, -1000})), reals({3}, {0, 1, -1}));
  EXPECT_VALUE(unary(Unary::Sigmoid, reals({1}, {0})), reals({1}, {0.5}));
  EXPECT_VALUE(unary(Unary::Sin, reals({1}, {0})), reals({1}, {0}));
  EXPECT_VALUE(unary(Unary::Cos, reals({1}, {0})), reals({1}, {1}));
  EXPECT_VALUE(unary(Unary::Erf, reals({3}, {0, 10, -10})), reals({3}, {0, 1, -1}));
  EXPECT_VALUE(unary(Unary::Floor, reals({3}, {1.5, -1.5, -0.0})), reals({3}, {1, -2, -0.0}));
  EXPECT_VALUE(unary(Unary::Sign, reals({5}, {3, -3, 0, -0.0, kNaN})), reals({5}, {1, -1, 0, -0.0, kNaN}));
  EXPECT_VALUE(unary(Unary::IsFinite, reals({4}, {1, kNaN, kInfinity, -kInfinity})),
               booleans({4}, {1, 0, 0, 0}));
}

TEST(Unary, KeepsTheDeclaredTypeWithoutRoundingToIt) {
  EXPECT_VALUE(unary(Unary::Exp, reals({1}, {1}, DType::BF16)), reals({1}, {std::exp(1.0)}, DType::BF16));
}

TEST(Unary, OfIntegersWraps) {
  EXPECT_VALUE(unary(Unary::Negate, integers({3}, {1, kMin32, 0})), integers({3}, {-1, kMin32, 0}));
  EXPECT_VALUE(unary(Unary::Negate, integers({1}, {kMin64}, DType::I64)),
               integers({1}, {kMin64}, DType::I64));
  EXPECT_VALUE(unary(Unary::Abs, integers({3}, {-4, kMin32, 4})), integers({3}, {4, kMin32, 4}));
  EXPECT_VALUE(unary(Unary::Sign, integers({3}, {-4, 0, 4})), integers({3}, {-1, 0, 1}));
  EXPECT_VALUE(unary(Unary::Not, integers({2}, {0, 5})), integers({2}, {-1, -6}));
  EXPECT_VALUE(unary(Unary::Not, booleans({2}, {0, 1})), booleans({2}, {1, 0}));
}

TEST(Unary, RefusesTypesItDoesNotTake) {
  EXPECT_REFUSED(unary(Unary::Not, reals({1}, {1})),
                 "not: operands must be i1, i32 or i64, they are tensor<1xf32>");
  EXPECT_REFUSED(unary(Unary::Exp, integers({1}, {1})),
                 "exp: operands must be of a float type, they are tensor<1xi32>");
  EXPECT_REFUSED(unary(Unary::Negate, booleans({1}, {1})),
                 "negate: operands must be i32, i64 or of a float type, they are tensor<1xi1>");
  EXPECT_REFUSED(unary(Unary::IsFinite, integers({1}, {1})),
                 "is_finite: operands must be of a float type, they are tensor<1xi32>");
  EXPECT_REFUSED(unary(Unary::Exp, Tensor()),
                 "exp: tensor<f32> needs 1 reals, it holds 0 reals and 0 integers");
}

TEST(Binary, OfReals) {
  Tensor a = reals({3}, {7, -7, 0}), b = reals({3}, {2, 2, 0});
  EXPECT_VALUE(binary(Binary::Add, a, b), reals({3}, {9, -5, 0}));
  EXPECT_VALUE(binary(Binary::Subtract, a, b), reals({3}, {5, -9, 0}));
  EXPECT_VALUE(binary(Binary::Multiply, a, b), reals({3}, {14, -14, 0}));
  EXPECT_VALUE(binary(Binary::Divide, a, b), reals({3}, {3.5, -3.5, kNaN}));
  EXPECT_VALUE(binary(Binary::Power, a, b), reals({3}, {49, 49, 1}));
  EXPECT_VALUE(binary(Binary::Remainder, a, b), reals({3}, {1, -1, kNaN}));
}

TEST(Binary, MaximumAndMinimumPropagateNaNAndOrderZeros) {
  Tensor a = reals({5}, {1, kNaN, 1, -0.0, 0.0}), b = reals({5}, {2, 1, kNaN, 0.0, -0.0});
  EXPECT_VALUE(binary(Binary::Maximum, a, b), reals({5}, {2, kNaN, kNaN, 0.0, 0.0}));
  EXPECT_VALUE(binary(Binary::Minimum, a, b), reals({5}, {1, kNaN, kNaN, -0.0, -0.0}));
}

TEST(Binary, OfIntegersWrapsAndDefinesDivisionByZero) {
  EXPECT_VALUE(binary(Binary::Add, integers({1}, {kMax32}), integers({1}, {1})), integers({1}, {kMin32}));
  EXPECT_VALUE(binary(Binary::Subtract, integers({1}, {kMin64}, DType::I64), integers({1}, {1}, DType::I64)),
               integers({1}, {kMax64}, DType::I64));
  EXPECT_VALUE(binary(Binary::Multiply, integers({1}, {65536}), integers({1}, {65537})),
               integers({1}, {65536}));
  Tensor a = integers({5}, {7, -7, 7, kMin32, 5}), b = integers({5}, {2, 2, -2, -1, 0});
  EXPECT_VALUE(binary(Binary::Divide, a, b), integers({5}, {3, -3, -3, kMin32, 0}));
  EXPECT_VALUE(binary(Binary::Remainder, a, b), integers({5}, {1, -1, 1, 0, 0}));
  EXPECT_VALUE(binary(Binary::Divide, integers({1}, {kMin64}, DType::I64), integers({1}, {-1}, DType::I64)),
               integers({1}, {kMin64}, DType::I64));
  EXPECT_VALUE(binary(Binary::Maximum, a, b), integers({5}, {7, 2, 7, -1, 5}));
  EXPECT_VALUE(binary(Binary::Minimum, a, b), integers({5}, {2, -7, -2, kMin32, 0}));
}

TEST(Binary, AndOrAreBitwise) {
  EXPECT_VALUE(binary(Binary::And, booleans({4}, {0, 0, 1, 1}), booleans({4}, {0, 1, 0, 1})),
               booleans({4}, {0, 0, 0, 1}));
  EXPECT_VALUE(binary(Binary::Or, booleans({4}, {0, 0, 1, 1}), booleans({4}, {0, 1, 0, 1})),
               booleans({4}, {0, 1, 1, 1}));
  EXPECT_VALUE(binary(Binary::And, integers({1}, {12}), integers({1}, {10})), integers({1}, {8}));
}

TEST(Binary, RefusesTypesItDoesNotTake) {
  EXPECT_REFUSED(binary(Binary::Add, reals({2}, {1, 2}), reals({1}, {1})),
                 "add: operands must have one type, they are tensor<2xf32> and tensor<1xf32>");
  EXPECT_REFUSED(binary(Binary::Add, reals({1}, {1}), reals({1}, {1}, DType::BF16)),
                 "add: operands must have one type, they are tensor<1xf32> and tensor<1xbf16>");
  EXPECT_REFUSED(binary(Binary::Multiply, booleans({1}, {1}), booleans({1}, {1})),
                 "multiply: operands must be i32, i64 or of a float type, they are tensor<1xi1>");
  EXPECT_REFUSED(binary(Binary::Power, integers({1}, {1}), integers({1}, {1})),
                 "power: operands must be of a float type, they are tensor<1xi32>");
  EXPECT_REFUSED(binary(Binary::Power, booleans({1}, {1}), booleans({1}, {1})),
                 "power: operands must be of a float type, they are tensor<1xi1>");
  EXPECT_REFUSED(binary(Binary::And, reals({1}, {1}), reals({1}, {1})),
                 "and: operands must be i1, i32 or i64, they are tensor<1xf32>");
}

TEST(Compare, OrdersRealsAndGivesNaNOnlyNotEqual) {
  Tensor a = reals({5}, {1, 2, 2, kNaN, -0.0}), b = reals({5}, {2, 2, 1, kNaN, 0.0});
  EXPECT_VALUE(compare(Comparison::Eq, a, b), booleans({5}, {0, 1, 0, 0, 1}));
  EXPECT_VALUE(compare(Comparison::Ne, a, b), booleans({5}, {1, 0, 1, 1, 0}));
  EXPECT_VALUE(compare(Comparison::Lt, a, b), booleans({5}, {1, 0, 0, 0, 0}));
  EXPECT_VALUE(compare(Comparison::Le, a, b), booleans({5}, {1, 1, 0, 0, 1}));
  EXPECT_VALUE(compare(Comparison::Gt, a, b), booleans({5}, {0, 0, 1, 0, 0}));
  EXPECT_VALUE(compare(Comparison::Ge, a, b), booleans({5}, {0, 1, 1, 0, 1}));
}

TEST(Compare, TakesIntegersExactly) {
  Tensor a = integers({1}, {kMax64}, DType::I64), b = integers({1}, {kMax64 - 1}, DType::I64);
  EXPECT_VALUE(compare(Comparison::Gt, a, b), booleans({1}, {1}));
  EXPECT_VALUE(compare(Comparison::Eq, booleans({2}, {0, 1}), booleans({2}, {1, 1})), booleans({2}, {0, 1}));
  EXPECT_REFUSED(compare(Comparison::Lt, integers({1}, {1}), reals({1}, {1})),
                 "lt: operands must have one type, they are tensor<1xi32> and tensor<1xf32>");
}

TEST(Select, TakesTheFirstWhereTheConditionHolds) {
  EXPECT_VALUE(select(booleans({3}, {1, 0, 1}), reals({3}, {1, 2, kNaN}), reals({3}, {kNaN, 5, 6})),
               reals({3}, {1, 5, kNaN}));
  EXPECT_VALUE(select(booleans({}, {0}), integers({}, {1}), integers({}, {2})), integers({}, {2}));
}

TEST(Select, RefusesOtherShapesAndTypes) {
  EXPECT_REFUSED(select(booleans({1}, {1}), reals({2}, {1, 2}), reals({2}, {1, 2})),
                 "select: the condition must be tensor<2xi1>, it is tensor<1xi1>");
  EXPECT_REFUSED(select(integers({2}, {1, 0}), reals({2}, {1, 2}), reals({2}, {1, 2})),
                 "select: the condition must be tensor<2xi1>, it is tensor<2xi32>");
  EXPECT_REFUSED(select(booleans({1}, {1}), reals({1}, {1}), integers({1}, {1})),
                 "select: operands must have one type, they are tensor<1xf32> and tensor<1xi32>");
}

} // namespace
} // namespace weft::reference
