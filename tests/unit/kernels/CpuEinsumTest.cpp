//===- CpuEinsumTest.cpp - Contractions on the CPU ------------------------===//
//
// Against loops over all letters in float64. The tolerance of a float32 sum of k terms below 1 is k roundings
// of half an ulp of a partial sum (at most k), taken at the usual square-root growth with a factor to spare.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/EinsumPlan.h"
#include "tests/unit/kernels/TestSupport.h"

#include <cmath>
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

TEST(CpuEinsum, TheContractionsOfATransformer) {
  for (Case test :
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
  for (Case test :
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
  for (Case test :
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
