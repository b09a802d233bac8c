//===- CpuElementwiseTest.cpp - Element-wise programs on the CPU ----------===//
//
// Programs are run against an interpreter in float64 that rounds each value to its type, so everything that
// IEEE 754 rounds correctly must agree to the bit; elementary functions must keep the bounds that
// VectorMath-inl.h states.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ElementwiseOps.h"
#include "tests/unit/kernels/TestSupport.h"

#include <cmath>
#include <functional>

namespace weft::testing {
namespace {

using Op = ElementwiseOp;

struct ProgramBuilder {
  KernelCall call;
  std::vector<int64_t> fields, strides;
  int32_t next = 0;

  explicit ProgramBuilder(std::vector<int64_t> shape) {
    call.name = "elementwise";
    call.setIntegers("shape", std::move(shape));
    call.setIntegers("constant_types", {});
  }
  int32_t operand(std::vector<int64_t> operandStrides) {
    strides.insert(strides.end(), operandStrides.begin(), operandStrides.end());
    return next++;
  }
  int32_t constant(DType type, double value) {
    call.attributes["constants"].numbers.push_back(value);
    call.attributes["constant_types"].integers.push_back(static_cast<int64_t>(type));
    return next++;
  }
  int32_t apply(Op op, DType type, int32_t a, int32_t b = -1, int32_t c = -1) {
    appendInstruction(fields, {op, type, {a, b, c}});
    return next++;
  }
  KernelCall finish(std::vector<std::pair<int32_t, DType>> outputs) {
    call.setIntegers("operand_strides", strides);
    call.setIntegers("program", fields);
    std::vector<int64_t> registers;
    for (auto [reg, type] : outputs) {
      registers.push_back(reg);
      call.results.push_back({type, call.attributes["shape"].integers});
    }
    call.setIntegers("outputs", registers);
    return call;
  }
};

/// One instruction over operands of the given types, all of one dense shape.
KernelCall single(Op op, DType result, std::vector<DType> sources, int64_t count) {
  ProgramBuilder builder({count});
  std::array<int32_t, 3> registers = {-1, -1, -1};
  for (size_t i = 0; i < sources.size(); ++i)
    registers[i] = builder.operand({1});
  int32_t value = builder.apply(op, result, registers[0], registers[1], registers[2]);
  return builder.finish({{value, result}});
}

double exact(Op op, double a, double b) {
  switch (op) {
  case Op::Negate:
    return -a;
  case Op::Abs:
    return std::fabs(a);
  case Op::Exp:
    return std::exp(a);
  case Op::Log:
    return std::log(a);
  case Op::Sqrt:
    return std::sqrt(a);
  case Op::Rsqrt:
    return 1 / std::sqrt(a);
  case Op::Tanh:
    return std::tanh(a);
  case Op::Sigmoid:
    return 1 / (1 + std::exp(-a));
  case Op::Sin:
    return std::sin(a);
  case Op::Cos:
    return std::cos(a);
  case Op::Erf:
    return std::erf(a);
  case Op::Floor:
    return std::floor(a);
  case Op::Sign:
    return a > 0 ? 1 : a < 0 ? -1 : a;
  case Op::Add:
    return a + b;
  case Op::Subtract:
    return a - b;
  case Op::Multiply:
    return a * b;
  case Op::Divide:
    return a / b;
  case Op::Maximum:
    return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  case Op::Minimum:
    return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
  case Op::Power:
    return std::pow(a, b);
  case Op::Remainder:
    return std::fmod(a, b);
  case Op::Equal:
    return a == b;
  case Op::NotEqual:
    return a != b;
  case Op::Less:
    return a < b;
  case Op::LessEqual:
    return a <= b;
  case Op::Greater:
    return a > b;
  case Op::GreaterEqual:
    return a >= b;
  default:
    ADD_FAILURE() << "no exact value of " << name(op);
    return 0;
  }
}

/// Ordinary numbers, then all that may go wrong.
std::vector<double> samples(DType type) {
  std::vector<double> values = {0.0,   -0.0,  1.0,  -1.0,  0.5,   -2.5,  3.0,      1e-3,      88.0,
                                89.0,  -88.0, -104, 1e-8,  200.0, -17.0, INFINITY, -INFINITY, NAN,
                                1e-38, 1e-41, 1e38, -1e38, 100.0, 7.0,   -7.0};
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal(0, 4);
  while (values.size() < 1027)
    values.push_back(normal(engine));
  for (double &value : values)
    value = roundTo(type, value);
  return values;
}

constexpr DType kFloats[] = {DType::F32, DType::BF16, DType::F16, DType::F64};

TEST(CpuElementwise, ArithmeticRoundsCorrectlyInEveryFloatType) {
  for (DType type : kFloats)
    for (Op op : {Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Maximum, Op::Minimum, Op::Negate,
                  Op::Abs, Op::Sqrt, Op::Floor, Op::Sign, Op::Remainder}) {
      std::vector<double> a = samples(type), b = a;
      std::shuffle(b.begin(), b.end(), std::mt19937_64(3));
      int64_t count = static_cast<int64_t>(a.size());
      std::vector<DType> sources(static_cast<size_t>(sourceCount(op)), type);
      std::vector<Tensor> operands = {Tensor(type, {count}, a)};
      if (sources.size() == 2)
        operands.emplace_back(type, std::vector<int64_t>{count}, b);
      Tensor result = runOnThreads(single(op, type, sources, count), operands)[0];
      std::vector<double> expected;
      for (size_t i = 0; i < a.size();
           ++i) // a float32 rounding comes first, as bf16 and f16 compute in float32
        expected.push_back(roundTo(type, type == DType::F64 ? exact(op, a[i], b[i])
                                                            : roundTo(DType::F32, exact(op, a[i], b[i]))));
      SCOPED_TRACE(std::string(name(op)) + " " + std::string(weft::name(type)));
      expectNear(result, expected, 0);
    }
}

/// The distance in units of the last place of float32, of the exact value.
double ulps(float got, double wanted) {
  if (std::isnan(wanted) || std::isinf(static_cast<float>(wanted)))
    return std::isnan(wanted) ? (std::isnan(got) ? 0 : 1e9) : (got == static_cast<float>(wanted) ? 0 : 1e9);
  int exponent;
  std::frexp(wanted, &exponent);
  return std::fabs(got - wanted) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

struct FunctionBound {
  Op op;
  double low, high, ulps;
};

TEST(CpuElementwise, ElementaryFunctionsKeepTheirBounds) {
  for (FunctionBound bound : {FunctionBound{Op::Exp, -104, 89, 1},
                              {Op::Exp, -1e-3, 1e-3, 1},
                              {Op::Log, 1e-45, 1e-38, 4},
                              {Op::Log, 0.5, 2, 4},
                              {Op::Log, 1, 3e38, 4},
                              {Op::Tanh, -12, 12, 4},
                              {Op::Tanh, -1e-3, 1e-3, 4},
                              {Op::Sigmoid, -80, 40, 4},
                              {Op::Erf, -5, 5, 4},
                              {Op::Erf, -1e-3, 1e-3, 4},
                              {Op::Sin, -100, 100, 3},
                              {Op::Cos, -100, 100, 3},
                              {Op::Sin, -1e9, 1e9, 3},
                              {Op::Cos, -1e30, 1e30, 3},
                              {Op::Rsqrt, 1e-30, 1e30, 1.01}}) {
    const int64_t count = 20003;
    Tensor x = randomTensor(DType::F32, {count}, 11, bound.low, bound.high);
    Tensor y = runOnThreads(single(bound.op, DType::F32, {DType::F32}, count), {x})[0];
    double worst = 0, at = 0;
    for (int64_t i = 0; i < count; ++i) {
      double error = ulps(static_cast<float>(y.at(i)), exact(bound.op, x.at(i), 0));
      if (error > worst)
        worst = error, at = x.at(i);
    }
    EXPECT_LE(worst, bound.ulps + 0.5) << name(bound.op) << " at " << at;
  }
}

TEST(CpuElementwise, SinAndCosKeepTheirAbsoluteErrorUpToTheFastRangesEnd) {
  for (Op op : {Op::Sin, Op::Cos}) {
    Tensor x = randomTensor(DType::F32, {30011}, 5, -30000, 30000);
    Tensor y = runKernel(single(op, DType::F32, {DType::F32}, 30011), {x})[0];
    for (int64_t i = 0; i < x.elements(); ++i)
      ASSERT_NEAR(y.at(i), exact(op, x.at(i), 0), 1e-6) << name(op) << " of " << x.at(i);
  }
}

TEST(CpuElementwise, ElementaryFunctionsOfSpecialValuesAreThoseOfC) {
  std::vector<double> x = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e38, -1e38, 1e-45, -1e-45, 88.73, -1.0};
  for (Op op : {Op::Exp, Op::Log, Op::Tanh, Op::Sin, Op::Cos, Op::Erf, Op::Sigmoid, Op::Sqrt, Op::Rsqrt})
    for (DType type : {DType::F32, DType::F64}) {
      Tensor in(type, {static_cast<int64_t>(x.size())}, x);
      Tensor out = runKernel(single(op, type, {type}, in.elements()), {in})[0];
      std::vector<double> expected;
      for (double value : in.values())
        expected.push_back(roundTo(type, exact(op, value, 0)));
      SCOPED_TRACE(name(op));
      expectNear(out, expected, 4 * epsilonOf(type));
    }
}

TEST(CpuElementwise, FunctionsOfNarrowTypesAreRoundedFloat32) {
  for (DType type : {DType::BF16, DType::F16, DType::F64})
    for (Op op : {Op::Exp, Op::Tanh, Op::Sigmoid, Op::Erf, Op::Rsqrt}) {
      Tensor x = randomTensor(type, {517}, 2, 0.01, 5);
      Tensor y = runOnThreads(single(op, type, {type}, 517), {x})[0];
      std::vector<double> expected;
      for (double value : x.values())
        expected.push_back(exact(op, value, 0));
      expectNear(y, expected, epsilonOf(type));
    }
}

TEST(CpuElementwise, ComparisonsOfAnyTypeAndSelect) {
  for (DType type : {DType::F32, DType::BF16, DType::F16, DType::F64, DType::I32, DType::I64})
    for (Op op : {Op::Equal, Op::NotEqual, Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual}) {
      std::vector<double> a = {1, 2, 3, -1, 0, 5, 5}, b = {2, 2, -3, -1, 7, 5, 4};
      if (isFloat(type))
        a[0] = NAN, b[5] = INFINITY;
      ProgramBuilder builder({7});
      int32_t x = builder.operand({1}), y = builder.operand({1});
      int32_t mask = builder.apply(op, DType::I1, x, y);
      int32_t chosen = builder.apply(Op::Select, type, mask, x, y);
      KernelCall call = builder.finish({{mask, DType::I1}, {chosen, type}});
      auto results = runOnThreads(call, {Tensor(type, {7}, a), Tensor(type, {7}, b)});
      std::vector<double> masks, values;
      for (size_t i = 0; i < a.size(); ++i) {
        masks.push_back(exact(op, a[i], b[i]));
        values.push_back(masks.back() != 0 ? a[i] : b[i]);
      }
      SCOPED_TRACE(name(op));
      expectNear(results[0], masks, 0);
      expectNear(results[1], values, 0);
    }
}

TEST(CpuElementwise, IntegersWrapAndDivideWithoutTraps) {
  const double low = -2147483648.0;
  Tensor a(DType::I32, {5}, {7, -7, low, 5, 2147483647}), b(DType::I32, {5}, {2, 2, -1, 0, 1});
  auto run = [&](Op op) {
    return runKernel(single(op, DType::I32, {DType::I32, DType::I32}, 5), {a, b})[0].values();
  };
  EXPECT_EQ(run(Op::Divide), (std::vector<double>{3, -3, low, 0, 2147483647}));
  EXPECT_EQ(run(Op::Remainder), (std::vector<double>{1, -1, 0, 0, 0}));
  EXPECT_EQ(run(Op::Add), (std::vector<double>{9, -5, 2147483647, 5, low}));
  EXPECT_EQ(run(Op::And), (std::vector<double>{2, 0, low, 0, 1}));
  EXPECT_EQ(run(Op::Or), (std::vector<double>{7, -5, -1, 5, 2147483647}));
  Tensor no = runKernel(single(Op::Not, DType::I32, {DType::I32}, 5), {a})[0];
  EXPECT_EQ(no.values(), (std::vector<double>{-8, 6, 2147483647, -6, low}));
  Tensor bits = runKernel(single(Op::Not, DType::I1, {DType::I1}, 2), {Tensor(DType::I1, {2}, {1, 0})})[0];
  EXPECT_EQ(bits.values(), (std::vector<double>{0, 1}));
}

TEST(CpuElementwise, CastsRoundTruncateAndSaturate) {
  auto cast = [](DType from, DType to, std::vector<double> values) {
    Tensor x(from, {static_cast<int64_t>(values.size())}, values);
    return runKernel(single(Op::Cast, to, {from}, x.elements()), {x})[0].values();
  };
  EXPECT_EQ(cast(DType::F32, DType::I32, {1.9, -1.9, NAN, 1e20, -1e20, INFINITY}),
            (std::vector<double>{1, -1, 0, 2147483647, -2147483648.0, 2147483647}));
  EXPECT_EQ(cast(DType::F64, DType::I64, {-2.5, 1e30, -1e30}),
            (std::vector<double>{-2, 9223372036854775807.0, -9223372036854775808.0}));
  EXPECT_EQ(cast(DType::F32, DType::I1, {0, -0.0, 0.25, NAN}), (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(cast(DType::I64, DType::I1, {0, 4294967296.0}), (std::vector<double>{0, 1}));
  EXPECT_EQ(cast(DType::I1, DType::BF16, {0, 1}), (std::vector<double>{0, 1}));
  EXPECT_EQ(cast(DType::BF16, DType::F16, {65536, 1.0078125}), (std::vector<double>{INFINITY, 1.0078125}));
}

TEST(CpuElementwise, CastsToNarrowFloatsRoundOnce) {
  // Just above a tie: through float32 these would fall on the tie and go down to even.
  const double aboveTie = 1 + 0x1p-8 + 0x1p-40, belowTie = 1 + 3 * 0x1p-8 - 0x1p-40;
  Tensor x(DType::F64, {4}, {aboveTie, belowTie, -aboveTie, -belowTie});
  Tensor bf16 = runKernel(single(Op::Cast, DType::BF16, {DType::F64}, 4), {x})[0];
  EXPECT_EQ(bf16.values(), (std::vector<double>{1 + 0x1p-7, 1 + 0x1p-7, -1 - 0x1p-7, -1 - 0x1p-7}));
  Tensor y(DType::F64, {2}, {1 + 0x1p-11 + 0x1p-40, 1 + 3 * 0x1p-11 - 0x1p-40});
  Tensor f16 = runKernel(single(Op::Cast, DType::F16, {DType::F64}, 2), {y})[0];
  EXPECT_EQ(f16.values(), (std::vector<double>{1 + 0x1p-10, 1 + 0x1p-10}));
  Tensor integers(DType::I64, {3});
  const int64_t values[] = {(int64_t{1} << 62) + (int64_t{1} << 54) + 1, 257 * 2 + 1,
                            -((int64_t{1} << 62) + 1)};
  std::memcpy(integers.data(), values, sizeof values);
  Tensor rounded = runKernel(single(Op::Cast, DType::BF16, {DType::I64}, 3), {integers})[0];
  EXPECT_EQ(rounded.values(), (std::vector<double>{0x1p62 + 0x1p55, 516, -0x1p62}));
}

TEST(CpuElementwise, BitcastKeepsTheBits) {
  Tensor x(DType::F32, {2}, {1.0, -2.0});
  EXPECT_EQ(runKernel(single(Op::Bitcast, DType::I32, {DType::F32}, 2), {x})[0].values(),
            (std::vector<double>{1065353216.0, -1073741824.0}));
}

TEST(CpuElementwise, NarrowProgramsRoundAfterEachInstruction) {
  // (1 + 2^-8) + 2^-8 in bf16: each sum is a tie that goes back to 1.
  ProgramBuilder builder({1});
  int32_t one = builder.constant(DType::BF16, 1), small = builder.constant(DType::BF16, 0x1p-8);
  int32_t sum = builder.apply(Op::Add, DType::BF16, builder.apply(Op::Add, DType::BF16, one, small), small);
  EXPECT_EQ(runKernel(builder.finish({{sum, DType::BF16}}), {})[0].at(0), 1);
}

/// z = a * b + c with every kind of stride, for shapes around the sizes of vectors, blocks and tiles.
TEST(CpuElementwise, BroadcastsTransposesAndOddShapes) {
  for (DType type : kFloats)
    for (std::vector<int64_t> shape : std::vector<std::vector<int64_t>>{{1, 1, 1},
                                                                        {3, 1, 17},
                                                                        {17, 3, 1},
                                                                        {5, 7, 3},
                                                                        {2, 33, 301},
                                                                        {1, 1, 40001},
                                                                        {4, 0, 5},
                                                                        {1500, 3, 2}}) {
      int64_t m = shape[0], n = shape[1], k = shape[2];
      ProgramBuilder builder(shape);
      int32_t a = builder.operand({n * k, k, 1});       // dense
      int32_t row = builder.operand({0, 0, 1});         // one row
      int32_t column = builder.operand({n, 1, 0});      // one value a row
      int32_t swapped = builder.operand({k, k * m, 1}); // dimensions 0 and 1 exchanged
      int32_t scalar = builder.operand({0, 0, 0});
      int32_t value = builder.apply(Op::Multiply, type, a, row);
      value = builder.apply(Op::Add, type, value, column);
      value = builder.apply(Op::Subtract, type, value, swapped);
      value = builder.apply(Op::Maximum, type, value, scalar);
      KernelCall call = builder.finish({{value, type}});
      std::vector<Tensor> in = {randomTensor(type, {m, n, k}, 1), randomTensor(type, {k}, 2),
                                randomTensor(type, {m, n}, 3), randomTensor(type, {n, m, k}, 4),
                                randomTensor(type, {}, 5)};
      auto round = [&](double x) { return roundTo(type, type == DType::F64 ? x : roundTo(DType::F32, x)); };
      std::vector<double> expected;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          for (int64_t l = 0; l < k; ++l) {
            double x = round(in[0].at((i * n + j) * k + l) * in[1].at(l));
            x = round(x + in[2].at(i * n + j));
            x = round(x - in[3].at((j * m + i) * k + l));
            expected.push_back(std::max(x, in[4].at(0)));
          }
      expectNear(runOnThreads(call, in)[0], expected, 0);
      expectNear(runInPlace(call, in, 0, 0), expected, 0);
    }
}

TEST(CpuElementwise, AResultMayReplaceAnOperandThatIsStoredElsewhereToo) {
  const int64_t count = 5000;
  ProgramBuilder builder({count});
  int32_t x = builder.operand({1});
  int32_t doubled = builder.apply(Op::Add, DType::F32, x, x);
  KernelCall call = builder.finish({{doubled, DType::F32}, {x, DType::F32}});
  Tensor in = randomTensor(DType::F32, {count}, 9);
  std::vector<Tensor> apart = runOnThreads(call, {in});
  expectNear(apart[1], in.values(), 0);
  expectNear(runInPlace(call, {in}, 0, 0), apart[0].values(), 0);
}

TEST(CpuElementwise, OnlyAFullOperandOfTheSameTypeMayBeReplaced) {
  ProgramBuilder builder({4, 4});
  int32_t full = builder.operand({4, 1}), turned = builder.operand({1, 4});
  int32_t sum = builder.apply(Op::Add, DType::F32, full, turned);
  int32_t narrow = builder.apply(Op::Cast, DType::BF16, sum);
  KernelCall call = builder.finish({{sum, DType::F32}, {narrow, DType::BF16}});
  call.operands = {{DType::F32, {4, 4}}, {DType::F32, {4, 4}}};
  auto kernel = cpu::createKernel(call);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_TRUE((*kernel)->mayAlias(0, 0));
  EXPECT_FALSE((*kernel)->mayAlias(0, 1));
  EXPECT_FALSE((*kernel)->mayAlias(1, 0));
}

TEST(CpuElementwise, ManyLiveRegistersShrinkTheBlockUntilTheyCannot) {
  auto program = [](int count) {
    ProgramBuilder builder({100});
    int32_t x = builder.operand({1});
    std::vector<int32_t> values;
    for (int i = 0; i < count; ++i)
      values.push_back(builder.apply(Op::Add, DType::F64, i == 0 ? x : values.back(), x));
    int32_t sum = values[0];
    for (int i = 1; i < count; ++i)
      sum = builder.apply(Op::Add, DType::F64, sum, values[static_cast<size_t>(i)]);
    KernelCall call = builder.finish({{sum, DType::F64}});
    call.operands = {{DType::F64, {100}}};
    return call;
  };
  Tensor ones(DType::F64, {100}, std::vector<double>(100, 1.0));
  EXPECT_EQ(runOnThreads(program(300), {ones})[0].at(99), 301 * 302 / 2 - 1);
  EXPECT_EQ(refusal(program(600)),
            "kernel elementwise: 1200 registers; split the program, 1024 are the most");
}

} // namespace
} // namespace weft::testing
