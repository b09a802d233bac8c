//===- CpuKernelCostTest.cpp - What a call must do at least -------------===//
#include "kernels/common/KernelCost.h"
#include "kernels/cpu/Registry.h"

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
  EXPECT_EQ(costOf(product)->operations, 2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(costOf(product)->bytes, 4 * (30 + 35 + 42));
}

TEST(KernelCost, AttentionCountsTheKeysThatAreSeen) {
  const TensorType tokens = f32({1, 100, 2, 8});
  KernelCall all = call("attention", {tokens, tokens, tokens}, {tokens, f32({1, 2, 100})});
  const double products = 2.0 * 2 * 1600; // two of them, of each element of the queries
  EXPECT_EQ(costOf(all)->operations, products * 100);
  all.setInteger("causal", 1); // 1 + 2 + ... + 100 pairs in each of two heads, of depth 8
  EXPECT_EQ(costOf(all)->operations, 2.0 * 2 * 2 * 8 * 5050);
  all.setInteger("window", 20); // 1 + ... + 19, then 20 for each of 81
  EXPECT_EQ(costOf(all)->operations, 2.0 * 2 * 2 * 8 * (190 + 20 * 81));
  KernelCall backward = call("attention_backward", {tokens, tokens, tokens, tokens, tokens, f32({1, 2, 100})},
                             {tokens, tokens, tokens});
  EXPECT_EQ(costOf(backward)->operations, 2.5 * products * 100);
}

TEST(KernelCost, AQueryOfTheLastRowsSeesTheKeysBeforeThem) {
  KernelCall last = call("attention", {f32({1, 2, 1, 8}), f32({1, 10, 1, 8}), f32({1, 10, 1, 4})},
                         {f32({1, 2, 1, 4}), f32({1, 1, 2})});
  last.setInteger("causal", 1);
  EXPECT_EQ(costOf(last)->operations, 2.0 * (8 + 4) * (9 + 10));
  last.setInteger("has_positions", 1); // anywhere: one at 4, one at 9
  EXPECT_EQ(costOf(last)->operations, 2.0 * (8 + 4) * (5 + 10));
}

TEST(KernelCost, ProductsAreOfTheTypeOfBothSides) {
  const TensorType narrow{DType::BF16, {8, 8}};
  KernelCall product = call("einsum", {narrow, narrow}, {f32({8, 8})});
  EXPECT_EQ(costOf(product)->multiplied, DType::BF16);
  product.operands[1] = f32({8, 8});
  EXPECT_EQ(costOf(product)->multiplied, DType::F32);
}

TEST(KernelCost, AnUpdateInPlaceMovesItsBlock) {
  EXPECT_EQ(costOf(call("update_slice", {f32({1000}), f32({10})}, {f32({1000})}))->bytes, 80);
}

TEST(KernelCost, EveryKernelHasOne) {
  for (const cpu::KernelRow &row : cpu::kernelTable())
    EXPECT_TRUE(costOf(call(std::string(row.name), {}, {}))) << row.name;
  for (const char *name :
       {"all_gather", "all_reduce", "reduce_scatter", "all_to_all", "shift", "send", "send_wait", "receive",
        "receive_wait", "rank_slice", "rank_offset", "rank_valid", "rank_first", "rank_mask"})
    EXPECT_TRUE(costOf(call(name, {}, {}))) << name;
  EXPECT_FALSE(costOf(call("nothing", {}, {})));
}

TEST(KernelCost, ALossHeadIsThreeProductsInOnePass) {
  const TensorType x = f32({10, 4}), w = f32({50, 4}), row = f32({10});
  const TensorType targets{DType::I32, {10}};
  EXPECT_EQ(costOf(call("linear_cross_entropy", {x, w, targets}, {row, row, row}))->operations,
            2 * 10 * 4 * 50);
  EXPECT_EQ(
      costOf(call("linear_cross_entropy_forward_backward", {row, row, x, w, targets}, {row, row, row, x, w}))
          ->operations,
      3 * 2 * 10 * 4 * 50);
}

TEST(KernelCost, ALookupReadsItsRowsAlone) {
  KernelCost cost = *costOf(call("gather", {f32({1000, 8}), {DType::I32, {3}}}, {f32({3, 8})}));
  EXPECT_EQ(cost.operations, 0);
  EXPECT_EQ(cost.bytes, 2 * 96 + 12);
}

TEST(KernelCost, WhatDoesNotFitHasNoOperations) {
  EXPECT_EQ(costOf(call("attention", {f32({4})}, {f32({4})}))->operations, 0);
  EXPECT_EQ(costOf(call("linear_cross_entropy", {}, {}))->operations, 0);
}

} // namespace
} // namespace weft
