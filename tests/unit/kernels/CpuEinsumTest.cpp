//===- CpuEinsumTest.cpp - Contractions on the CPU ------------------------===//
//
// Against loops over all letters in float64. The tolerance of a float32 sum of k terms below 1 is k roundings
// of half an ulp of a partial sum (at most k), taken at the usual square-root growth with a factor to spare.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/EinsumPlan.h"
#include "kernels/cpu/TileProduct.h"
#include "tests/unit/kernels/TestSupport.h"

#include <cmath>
#include <cstring>
#include <map>

namespace weft::testing {
namespace {

KernelCall einsum(const std::string &equation, DType a, std::vector<int64_t> aShape, DType b,
                  std::vector<int64_t> bShape, DType c, std::vector<int64_t> cShape) {
  KernelCall call;
  call.name = "einsum";
  call.setText("equation", equation);
  call.operands = {{a, std::move(aShape)}, {b, std::move(bShape)}};
  call.results = {{c, std::move(cShape)}};
  return call;
}

struct Case {
  std::string equation;
  std::map<char, int64_t> sizes;
};

std::vector<int64_t> shapeOf(const std::string &term, const std::map<char, int64_t> &sizes) {
  std::vector<int64_t> shape;
  for (char letter : term)
    shape.push_back(sizes.at(letter));
  return shape;
}

int64_t offsetOf(const std::string &term, const std::map<char, int64_t> &sizes,
                 const std::map<char, int64_t> &index) {
  int64_t offset = 0;
  for (char letter : term)
    offset = offset * sizes.at(letter) + index.at(letter);
  return offset;
}

void expectContraction(const Case &test, DType a, DType b, DType c) {
  SCOPED_TRACE(test.equation);
  size_t comma = test.equation.find(','), arrow = test.equation.find("->");
  std::string left = test.equation.substr(0, comma),
              right = test.equation.substr(comma + 1, arrow - comma - 1),
              out = test.equation.substr(arrow + 2);
  KernelCall call = einsum(test.equation, a, shapeOf(left, test.sizes), b, shapeOf(right, test.sizes), c,
                           shapeOf(out, test.sizes));
  Tensor x = randomTensor(a, call.operands[0].shape, 1), y = randomTensor(b, call.operands[1].shape, 2);
  std::vector<double> expected(static_cast<size_t>(call.results[0].elements()), 0.0);
  std::map<char, int64_t> index;
  int64_t points = 1, terms = 1;
  for (auto [letter, size] : test.sizes) {
    index[letter] = 0;
    points *= size;
    if (out.find(letter) == std::string::npos)
      terms *= size;
  }
  for (int64_t point = 0; point < points; ++point) {
    expected[static_cast<size_t>(offsetOf(out, test.sizes, index))] +=
        x.at(offsetOf(left, test.sizes, index)) * y.at(offsetOf(right, test.sizes, index));
    for (auto &[letter, position] : index) {
      if (++position < test.sizes.at(letter))
        break;
      position = 0;
    }
  }
  double sums =
      4 * std::sqrt(static_cast<double>(terms)) * epsilonOf(c == DType::F64 ? DType::F64 : DType::F32);
  expectNear(runOnThreads(call, {x, y})[0], expected, sums + epsilonOf(c));
}

TEST(CpuEinsum, ProductsOfEveryOrientation) {
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {1, 1, 1}, {3, 17, 5}, {17, 1, 3}, {1, 33, 9}, {30, 50, 7}, {64, 100, 65}, {5, 4, 0}, {0, 3, 2}})
    for (const char *equation : {"mk,kn->mn", "mk,nk->mn", "km,kn->mn", "km,nk->mn", "mk,kn->nm", "mk,nk->nm",
                                 "km,kn->nm", "km,nk->nm"})
      expectContraction({equation, {{'m', m}, {'n', n}, {'k', k}}}, DType::F32, DType::F32, DType::F32);
}

TEST(CpuEinsum, ProductsOfSeveralTiles) {
  for (const char *equation : {"mk,kn->mn", "km,nk->mn"})
    expectContraction({equation, {{'m', 300}, {'n', 400}, {'k', 9}}}, DType::F32, DType::F32, DType::F32);
}

TEST(CpuEinsum, ProductsOfBFloat16OfEveryOrientation) {
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                            {1, 40, 64},
                                                            {40, 1, 64},
                                                            {40, 64, 1},
                                                            {2, 8, 3},
                                                            {33, 47, 31},
                                                            {64, 64, 32},
                                                            {70, 90, 129},
                                                            {5, 40, 0},
                                                            {0, 40, 2}})
    for (const char *equation : {"mk,kn->mn", "mk,nk->mn", "km,kn->mn", "km,nk->mn", "mk,kn->nm", "mk,nk->nm",
                                 "km,kn->nm", "km,nk->nm"})
      for (DType result : {DType::F32, DType::BF16, DType::F16})
        expectContraction({equation, {{'m', m}, {'n', n}, {'k', k}}}, DType::BF16, DType::BF16, result);
}

/// Small integers in bfloat16, whose sums float32 holds exactly: large products are equal to those of
/// integers.
void expectExactProduct(bool leftTransposed, bool rightTransposed, int64_t batch, int64_t m, int64_t n,
                        int64_t k, DType result) {
  const std::string equation =
      std::string(leftTransposed ? "bkm," : "bmk,") + (rightTransposed ? "bnk->bmn" : "bkn->bmn");
  SCOPED_TRACE(equation + " " + std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k));
  const KernelCall call =
      einsum(equation, DType::BF16, {batch, leftTransposed ? k : m, leftTransposed ? m : k}, DType::BF16,
             {batch, rightTransposed ? n : k, rightTransposed ? k : n}, result, {batch, m, n});
  Tensor x(call.operands[0]), y(call.operands[1]);
  std::mt19937 generator(3);
  auto fill = [&](Tensor &tensor, bool transposed, int64_t rows, int64_t columns) {
    std::vector<int32_t> byRows(static_cast<size_t>(batch * rows * columns));
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
          const int32_t value = static_cast<int32_t>(generator() % 5) - 2;
          byRows[static_cast<size_t>((b * rows + r) * columns + c)] = value;
          tensor.set(b * rows * columns + (transposed ? c * rows + r : r * columns + c), value);
        }
    return byRows;
  };
  const std::vector<int32_t> left = fill(x, leftTransposed, m, k), right = fill(y, rightTransposed, k, n);
  std::vector<int32_t> sums(static_cast<size_t>(batch * m * n));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t l = 0; l < k; ++l) {
        const int32_t factor = left[static_cast<size_t>((b * m + i) * k + l)];
        const int32_t *from = right.data() + (b * k + l) * n;
        int32_t *to = sums.data() + (b * m + i) * n;
        for (int64_t j = 0; j < n; ++j)
          to[j] += factor * from[j];
      }
  const Tensor alone = runKernel(call, {x, y}, 1)[0];
  int64_t different = 0;
  for (int64_t i = 0; i < batch * m * n; ++i)
    different += alone.at(i) != roundTo(result, sums[static_cast<size_t>(i)]);
  EXPECT_EQ(different, 0);
  for (int threads : {2, 7}) {
    const Tensor together = runKernel(call, {x, y}, threads)[0];
    EXPECT_EQ(
        std::memcmp(alone.data(), together.data(), static_cast<size_t>(batch * m * n * byteSize(result))), 0)
        << threads << " threads";
  }
}

TEST(CpuEinsum, LargeProductsOfBFloat16AreExactInAnyNumberOfThreads) {
  for (bool leftTransposed : {false, true})
    for (bool rightTransposed : {false, true}) {
      // Several blocks, and a depth of several pieces, of whole tiles and not.
      expectExactProduct(leftTransposed, rightTransposed, 1, 200, 600, 576, DType::BF16);
      expectExactProduct(leftTransposed, rightTransposed, 1, 161, 530, 1030, DType::F32);
      // Rows that lie a page apart, and more columns (rows) than are packed at a time.
      if (!leftTransposed)
        expectExactProduct(leftTransposed, rightTransposed, 1, 64, 2100, 1024, DType::F32);
      else
        expectExactProduct(leftTransposed, rightTransposed, 1, 2100, 70, 1024, DType::BF16);
      // More right matrices than are packed at a time.
      expectExactProduct(leftTransposed, rightTransposed, 37, 33, 256, 256, DType::F32);
    }
}

TEST(CpuEinsum, OneRightMatrixForManyProducts) {
  const std::map<char, int64_t> sizes = {{'b', 3}, {'m', 35}, {'n', 45}, {'k', 20}};
  for (DType result : {DType::F32, DType::BF16}) {
    for (const char *equation : {"bmk,kn->mbn", "kbm,kn->bmn", "bmk,nk->mbn"})
      expectContraction({equation, sizes}, DType::BF16, DType::BF16, result);
    expectContraction({"bckm,bkn->cbmn", {{'b', 3}, {'c', 2}, {'m', 35}, {'n', 45}, {'k', 20}}}, DType::BF16,
                      DType::BF16, result);
  }
}

TEST(CpuEinsum, WorkspaceOfALinearLayerDoesNotGrowWithTheTokens) {
  if (!cpu::multipliesByTiles())
    GTEST_SKIP() << "the instruction set has no tiles";
  auto workspace = [](int64_t tokens, const char *equation) {
    const KernelCall call =
        einsum(equation, DType::BF16, {tokens, 768}, DType::BF16, {3072, 768}, DType::BF16, {tokens, 3072});
    auto kernel = cpu::createKernel(call);
    return kernel.ok() ? (*kernel)->workspaceBytes() : -1;
  };
  const int64_t bytes = workspace(1024, "th,fh->tf");
  EXPECT_LE(bytes, 4 << 20);
  EXPECT_EQ(workspace(1 << 20, "th,fh->tf"), bytes);
  EXPECT_EQ(workspace(1, "th,fh->tf"), 0); // a step of generation reads the weights where they lie
}

TEST(CpuEinsum, TheContractionsOfATransformer) {
  for (const Case &test :
       std::vector<Case>{{"bsh,fh->bsf", {{'b', 2}, {'s', 37}, {'h', 48}, {'f', 96}}},
                         {"bsf,bsh->fh", {{'b', 2}, {'s', 37}, {'h', 48}, {'f', 96}}},
                         {"bsf,fh->bsh", {{'b', 2}, {'s', 37}, {'h', 48}, {'f', 96}}},
                         {"bsh,hnd->bsnd", {{'b', 2}, {'s', 17}, {'h', 24}, {'n', 3}, {'d', 8}}},
                         {"bsnd,hnd->bsh", {{'b', 2}, {'s', 17}, {'h', 24}, {'n', 3}, {'d', 8}}},
                         {"bsnd,bsh->hnd", {{'b', 2}, {'s', 17}, {'h', 24}, {'n', 3}, {'d', 8}}},
                         {"bsnd,btnd->bnst", {{'b', 2}, {'s', 17}, {'t', 9}, {'n', 3}, {'d', 8}}},
                         {"bnst,btnd->bsnd", {{'b', 2}, {'s', 17}, {'t', 9}, {'n', 3}, {'d', 8}}},
                         {"bnst,bsnd->btnd", {{'b', 2}, {'s', 17}, {'t', 9}, {'n', 3}, {'d', 8}}}})
    for (DType type : {DType::F32, DType::BF16, DType::F16, DType::F64})
      expectContraction(test, type, type, type);
}

TEST(CpuEinsum, LettersThatNoProductTakesAsTheyLie) {
  for (const Case &test :
       std::vector<Case>{{"bn,bn->bn", {{'b', 5}, {'n', 7}}}, // all batch
                         {"ab,ab->", {{'a', 5}, {'b', 7}}},   // all summed
                         {"ab,->a", {{'a', 5}, {'b', 7}}},    // a letter of one operand summed
                         {"ab,c->c", {{'a', 5}, {'b', 7}, {'c', 3}}},
                         {"a,b->ab", {{'a', 5}, {'b', 7}}}, // nothing summed
                         {",->", {}},                       // scalars
                         {"kml,nlk->mn", {{'k', 3}, {'m', 5}, {'l', 4}, {'n', 6}}},
                         {"kml,nlk->nm", {{'k', 3}, {'m', 5}, {'l', 4}, {'n', 6}}},
                         {"amkc,kbcn->nbma", {{'a', 2}, {'m', 5}, {'k', 4}, {'c', 3}, {'b', 2}, {'n', 6}}},
                         {"zab,bzc->acz", {{'z', 4}, {'a', 3}, {'b', 5}, {'c', 2}}}})
    for (DType type : {DType::F32, DType::BF16, DType::F64})
      expectContraction(test, type, type, type);
}

TEST(CpuEinsum, OperandsAndResultMayDifferInType) {
  Case test{"mk,kn->mn", {{'m', 9}, {'n', 33}, {'k', 40}}};
  expectContraction(test, DType::BF16, DType::F32, DType::F32);
  expectContraction(test, DType::BF16, DType::BF16, DType::F32);
  expectContraction(test, DType::F32, DType::F64, DType::F16);
  expectContraction(test, DType::F32, DType::F16, DType::F64);
}

TEST(CpuEinsum, NothingIsPackedForTheProductsOfALinearLayer) {
  for (const Case &test :
       std::vector<Case>{{"bsh,fh->bsf", {{'b', 8}, {'s', 256}, {'h', 288}, {'f', 768}}},
                         {"bsf,fh->bsh", {{'b', 8}, {'s', 256}, {'h', 288}, {'f', 768}}},
                         {"bsf,bsh->fh", {{'b', 8}, {'s', 256}, {'h', 288}, {'f', 768}}},
                         {"bsh,hnd->bsnd", {{'b', 8}, {'s', 256}, {'h', 288}, {'n', 6}, {'d', 48}}},
                         {"bsnd,hnd->bsh", {{'b', 8}, {'s', 256}, {'h', 288}, {'n', 6}, {'d', 48}}},
                         {"bsh,ndh->bsnd", {{'b', 8}, {'s', 256}, {'h', 288}, {'n', 6}, {'d', 48}}},
                         {"bsnd,bsh->ndh", {{'b', 8}, {'s', 256}, {'h', 288}, {'n', 6}, {'d', 48}}}}) {
    size_t comma = test.equation.find(','), arrow = test.equation.find("->");
    KernelCall call =
        einsum(test.equation, DType::F32, shapeOf(test.equation.substr(0, comma), test.sizes), DType::F32,
               shapeOf(test.equation.substr(comma + 1, arrow - comma - 1), test.sizes), DType::F32,
               shapeOf(test.equation.substr(arrow + 2), test.sizes));
    auto plan = cpu::planEinsum(call);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->products(), 1) << test.equation;
    auto kernel = cpu::createKernel(call);
    ASSERT_TRUE(kernel.ok());
    EXPECT_EQ((*kernel)->workspaceBytes(), 0) << test.equation;
  }
}

TEST(CpuEinsum, ExtremeValuesPassThrough) {
  KernelCall call = einsum("mk,kn->mn", DType::F32, {2, 2}, DType::F32, {2, 2}, DType::F32, {2, 2});
  Tensor a(DType::F32, {2, 2}, {3e38, 3e38, 1e-45, NAN}), b(DType::F32, {2, 2}, {1, 0, 1, 1});
  Tensor c = runOnThreads(call, {a, b})[0];
  EXPECT_EQ(c.at(0), INFINITY);
  EXPECT_EQ(c.at(1), static_cast<double>(3e38f));
  EXPECT_TRUE(std::isnan(c.at(2)));
}

TEST(CpuEinsum, RefusesWhatDoesNotFit) {
  auto call = [](const std::string &equation, std::vector<int64_t> a = {2, 3},
                 std::vector<int64_t> b = {3, 4}, DType type = DType::F32) {
    return einsum(equation, type, a, DType::F32, b, DType::F32, {2, 4});
  };
  EXPECT_EQ(refusal(call("mk,kn")), "kernel einsum: equation \"mk,kn\" is not of the form \"ab,bc->ac\"");
  EXPECT_EQ(refusal(call("m1,kn->mn")), "kernel einsum: equation \"m1,kn->mn\": '1' is not a letter");
  EXPECT_EQ(refusal(call("mm,kn->mn")),
            "kernel einsum: equation \"mm,kn->mn\": letter 'm' stands twice in one term");
  EXPECT_EQ(refusal(call("mkl,kn->mn")),
            "kernel einsum: equation \"mkl,kn->mn\": \"mkl\" names 3 dimensions of tensor<2x3xf32>");
  EXPECT_EQ(refusal(call("mk,kn->mx")),
            "kernel einsum: equation \"mk,kn->mx\": letter 'x' of the result is in no operand");
  EXPECT_EQ(refusal(call("mk,kn->mn", {2, 3}, {5, 4})),
            "kernel einsum: equation \"mk,kn->mn\": letter 'k' is 3 and 5");
  EXPECT_EQ(refusal(call("mk,kn->mn", {2, 3}, {3, 4}, DType::I32)),
            "kernel einsum: takes floating-point tensors, got tensor<2x3xi32>");
  KernelCall noEquation = call("");
  noEquation.attributes.clear();
  EXPECT_EQ(refusal(noEquation), "kernel einsum: attribute 'equation' must be a text");
  noEquation.operands.pop_back();
  EXPECT_EQ(refusal(noEquation), "kernel einsum: takes 2 operands and 1 result, got 1 and 1");
}

} // namespace
} // namespace weft::testing
