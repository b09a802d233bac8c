// Transcendental functions against mathematics, and at the ends of the number line. Expected values come from
// series in long double or from identities, never from the functions under test.
#include "kernels/reference/Elementwise.h"
#include "tests/unit/reference/Values.h"

namespace weft::reference {
namespace {

double at(Unary op, double x) {
  absl::StatusOr<Tensor> result = unary(op, scalar(x));
  return result.ok() ? result->reals[0] : kNaN;
}

/// e^x by halving the argument and a Taylor series, squared back up.
long double exponential(long double x) {
  int halvings = 0;
  for (; std::fabs(x) > 0.01L; x /= 2)
    ++halvings;
  long double sum = 1, term = 1;
  for (int i = 1; i < 20; ++i)
    sum += term *= x / i;
  for (; halvings > 0; --halvings)
    sum *= sum;
  return sum;
}

/// erf x = 2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) / (2n+1)!!, all terms positive (Abramowitz and Stegun 7.1.6).
long double errorFunction(long double x) {
  long double sum = 0, term = x;
  for (int n = 0; n < 400; ++n) {
    sum += term;
    term *= 2 * x * x / (2 * n + 3);
  }
  return 1.12837916709551257389615890312154517L * exponential(-x * x) * sum;
}

void expectNear(double actual, long double expected, double relative) {
  EXPECT_LE(std::fabs(static_cast<long double>(actual) - expected), relative * std::fabs(expected))
      << actual << " against " << static_cast<double>(expected);
}

TEST(Numerics, ErfAgreesWithItsSeries) {
  for (double x = -5; x <= 5; x += 0.173)
    expectNear(at(Unary::Erf, x), errorFunction(x), 1e-15);
  expectNear(at(Unary::Erf, 1e-300), 1.12837916709551257389615890312154517e-300L, 1e-15);
}

TEST(Numerics, ExpTanhAndSigmoidAgreeWithTheSeriesOfExp) {
  for (double x = -30; x <= 30; x += 0.737) {
    long double e = exponential(x), e2 = exponential(2 * static_cast<long double>(x));
    expectNear(at(Unary::Exp, x), e, 1e-15);
    expectNear(at(Unary::Sigmoid, x), e / (1 + e), 1e-15);
    if (std::fabs(x) > 0.5) // nearer to 0 the quotient here cancels
      expectNear(at(Unary::Tanh, x), (e2 - 1) / (e2 + 1), 1e-15);
  }
}

TEST(Numerics, TanhOfSmallArgumentsKeepsAllDigits) {
  EXPECT_EQ(at(Unary::Tanh, 1e-20), 1e-20);
  EXPECT_EQ(at(Unary::Tanh, 0x1p-1074), 0x1p-1074);
  expectNear(at(Unary::Tanh, 1e-3), 1e-3L - 1e-9L / 3 + 2e-15L / 15 - 17e-21L / 315, 1e-15);
}

TEST(Numerics, SigmoidNeitherOverflowsNorLosesItsTail) {
  EXPECT_EQ(at(Unary::Sigmoid, 1000), 1.0);
  EXPECT_EQ(at(Unary::Sigmoid, -1000), 0.0);
  EXPECT_EQ(at(Unary::Sigmoid, kInfinity), 1.0);
  EXPECT_EQ(at(Unary::Sigmoid, -kInfinity), 0.0);
  EXPECT_TRUE(std::isnan(at(Unary::Sigmoid, kNaN)));
  expectNear(at(Unary::Sigmoid, -700), exponential(-700.0L), 1e-14);
  EXPECT_GT(at(Unary::Sigmoid, -740), 0); // a subnormal
  for (double x : {0.3, 5.0, 36.0})
    EXPECT_NEAR(at(Unary::Sigmoid, x) + at(Unary::Sigmoid, -x), 1, 1e-15);
}

TEST(Numerics, EndsOfTheNumberLine) {
  EXPECT_EQ(at(Unary::Exp, 710), kInfinity);
  EXPECT_EQ(at(Unary::Exp, -746), 0);
  EXPECT_EQ(at(Unary::Log, kInfinity), kInfinity);
  EXPECT_EQ(at(Unary::Tanh, -kInfinity), -1);
  EXPECT_EQ(at(Unary::Erf, kInfinity), 1);
  EXPECT_EQ(at(Unary::Rsqrt, kInfinity), 0);
  EXPECT_TRUE(sameBits(at(Unary::Rsqrt, -0.0), -kInfinity));
  EXPECT_TRUE(sameBits(at(Unary::Sqrt, -0.0), -0.0));
  EXPECT_EQ(at(Unary::Sqrt, 0x1p-1074), 0x1p-537);
  for (Unary op : {Unary::Sin, Unary::Cos})
    EXPECT_TRUE(std::isnan(at(op, kInfinity)));
  for (Unary op : {Unary::Negate, Unary::Abs, Unary::Exp, Unary::Log, Unary::Sqrt, Unary::Rsqrt, Unary::Tanh,
                   Unary::Sin, Unary::Cos, Unary::Erf, Unary::Floor, Unary::Sign})
    EXPECT_TRUE(std::isnan(at(op, kNaN))) << name(op);
}

TEST(Numerics, OddFunctionsAreOddBitByBit) {
  for (Unary op : {Unary::Tanh, Unary::Erf, Unary::Sin})
    for (double x : {0.0, 0x1p-1074, 1e-9, 0.7, 3.0, 50.0})
      EXPECT_TRUE(sameBits(at(op, -x), -at(op, x))) << name(op) << " " << x;
}

TEST(Numerics, LogInvertsExp) {
  for (double x = -50; x < 50; x += 1.37)
    EXPECT_NEAR(at(Unary::Log, at(Unary::Exp, x)), x, 1e-14 * std::max(1.0, std::fabs(x)));
}

} // namespace
} // namespace weft::reference
