//===- KernelCostTest.cpp - What a call must do at least ------------------===//
#include "kernels/common/KernelCost.h"

#include "gtest/gtest.h"

namespace weft {
namespace {

KernelCall call(std::string name, std::vector<TensorType> operands, std::vector<TensorType> results) {
  KernelCall call;
  call.name = std::move(name);
  call.operands = std::move(operands);
  call.results = std::move(results);
  return call;
}
TensorType f32(std::vector<int64_t> shape) { return {DType::F32, std::move(shape)}; }

TEST(KernelCost, AProductHasTwoOperationsForEachIndex) {
  KernelCall product = call("einsum", {f32({2, 3, 5}), f32({5, 7})}, {f32({2, 3, 7})});
  product.setText("equation", "bsk,kn->bsn");
  EXPECT_EQ(costOf(product).operations, 2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(costOf(product).bytes, 4 * (30 + 35 + 42));
}

TEST(KernelCost, AttentionCountsTheKeysThatAreSeen) {
  const TensorType tokens = f32({1, 100, 2, 8});
  KernelCall all = call("attention", {tokens, tokens, tokens}, {tokens, f32({1, 2, 100})});
  const double products = 2.0 * 2 * 1600; // two of them, of each element of the queries
  EXPECT_EQ(costOf(all).operations, products * 100);
  all.setInteger("causal", 1);
  EXPECT_EQ(costOf(all).operations, products * 50);
  all.setInteger("window", 20);
  EXPECT_EQ(costOf(all).operations, products * 20);
  KernelCall backward = call("attention_backward", {tokens, tokens, tokens, tokens, tokens, f32({1, 2, 100})},
                             {tokens, tokens, tokens});
  EXPECT_EQ(costOf(backward).operations, 2.5 * products * 100);
}

TEST(KernelCost, ALossHeadIsThreeProductsInOnePass) {
  const TensorType x = f32({10, 4}), w = f32({50, 4}), row = f32({10});
  const TensorType targets{DType::I32, {10}};
  EXPECT_EQ(costOf(call("linear_cross_entropy", {x, w, targets}, {row, row, row})).operations,
            2 * 10 * 4 * 50);
  EXPECT_EQ(
      costOf(call("linear_cross_entropy_forward_backward", {row, row, x, w, targets}, {row, row, row, x, w}))
          .operations,
      3 * 2 * 10 * 4 * 50);
}

TEST(KernelCost, ALookupReadsItsRowsAlone) {
  KernelCost cost = costOf(call("gather", {f32({1000, 8}), {DType::I32, {3}}}, {f32({3, 8})}));
  EXPECT_EQ(cost.operations, 0);
  EXPECT_EQ(cost.bytes, 2 * 96 + 12);
}

TEST(KernelCost, WhatDoesNotFitHasNoOperations) {
  EXPECT_EQ(costOf(call("attention", {f32({4})}, {f32({4})})).operations, 0);
  EXPECT_EQ(costOf(call("linear_cross_entropy", {}, {})).operations, 0);
}

} // namespace
} // namespace weft
