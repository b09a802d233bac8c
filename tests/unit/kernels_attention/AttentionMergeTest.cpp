//===- AttentionMergeTest.cpp - Attention to parts of the keys, merged ----===//
//
// The keys are cut anywhere, attended to part by part, and merged: it must be attention to all of them.
//
//===----------------------------------------------------------------------===//
#include "AttentionReference.h"

#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/Cpu.h"

#include "gmock/gmock.h"

#include <cmath>
#include <limits>

namespace weft::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

KernelCall mergeCall(DType type, const std::vector<int64_t> &output) {
  TensorType o{type, output}, lse{type, {output[0], output[2], output[1]}};
  return {"attention_merge", {o, lse, o, lse}, {o, lse}, {}};
}

/// Keys [first, last) of a tensor [batch, keys, groups, size].
Tensor keysOf(const Tensor &all, int64_t first, int64_t last) {
  TensorType type = all.type();
  int64_t inner = type.shape[2] * type.shape[3], keys = type.shape[1];
  type.shape[1] = last - first;
  std::vector<double> values = all.values(), part;
  for (int64_t b = 0; b < type.shape[0]; ++b)
    part.insert(part.end(), values.begin() + (b * keys + first) * inner,
                values.begin() + (b * keys + last) * inner);
  return Tensor(type, part);
}

TEST(AttentionMerge, OfAllPartsIsAttentionToAllKeys) {
  for (DType type : {DType::F32, DType::F64}) {
    AttentionCase c{.batch = 2,
                    .queries = 70,
                    .keys = 90,
                    .heads = 4,
                    .groups = 2,
                    .depth = 16,
                    .width = 24,
                    .type = type};
    std::vector<Tensor> operands = attentionOperands(c, 1);
    AttentionForwardValues expected = referenceAttention(c, operands);
    std::vector<Tensor> merged;
    for (auto [first, last] : std::vector<std::pair<int64_t, int64_t>>{{40, 90}, {0, 1}, {1, 40}}) {
      AttentionCase part = c;
      part.keys = last - first;
      std::vector<Tensor> partial;
      partial.push_back(Tensor(operands[0].type(), operands[0].values()));
      partial.push_back(keysOf(operands[1], first, last));
      partial.push_back(keysOf(operands[2], first, last));
      std::vector<Tensor> results = *runKernel(part.forwardCall(), partial);
      if (!merged.empty()) {
        results.insert(results.begin(), std::make_move_iterator(merged.begin()),
                       std::make_move_iterator(merged.end()));
        results = *runKernel(mergeCall(type, results[0].type().shape), results);
      }
      merged = std::move(results);
    }
    // As the whole attention: scores of 16 products, 90 weights, and two more roundings per merge.
    double slack = 64 * roundoff(type) * largestMagnitude(expected.output);
    EXPECT_TRUE(isNear(merged[0].values(), expected.output, type, slack));
    EXPECT_TRUE(isNear(merged[1].values(), expected.lse, type, 64 * roundoff(type)));
  }
}

TEST(AttentionMerge, WithARowThatSawNothingIsTheOtherSideBitForBit) {
  std::vector<int64_t> shape = {1, 2, 1, 3};
  KernelCall call = mergeCall(DType::F32, shape);
  std::vector<double> some = {0.1, -3, 7e10, 1, 2, 3}, nothing(6, 0);
  for (bool swapped : {false, true}) {
    std::vector<Tensor> operands;
    for (bool left : {true, false}) {
      bool sees = left != swapped;
      operands.emplace_back(call.operands[0], sees ? some : nothing);
      operands.emplace_back(call.operands[1],
                            sees ? std::vector<double>{-2.5, 80} : std::vector<double>(2, -kInfinity));
    }
    std::vector<Tensor> results = *runKernel(call, operands);
    EXPECT_EQ(results[0].bytes(), operands[swapped ? 2 : 0].bytes());
    EXPECT_EQ(results[1].bytes(), operands[swapped ? 3 : 1].bytes());
  }
}

TEST(AttentionMerge, OfTwoRowsThatSawNothingSawNothing) {
  KernelCall call = mergeCall(DType::F32, {1, 1, 2, 2});
  std::vector<Tensor> operands;
  for (int side = 0; side < 2; ++side) {
    operands.emplace_back(call.operands[0], std::vector<double>(4, 0));
    operands.emplace_back(call.operands[1], std::vector<double>(2, -kInfinity));
  }
  std::vector<Tensor> results = *runKernel(call, operands);
  EXPECT_EQ(results[0].values(), std::vector<double>(4, 0));
  EXPECT_EQ(results[1].values(), std::vector<double>(2, -kInfinity));
}

TEST(AttentionMerge, NeitherOverflowsNorHidesANotANumber) {
  KernelCall call = mergeCall(DType::F32, {1, 3, 1, 1});
  double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<Tensor> operands;
  operands.emplace_back(call.operands[0], std::vector<double>{2, 2, 2});
  operands.emplace_back(call.operands[1], std::vector<double>{1000, -1000, -kInfinity});
  operands.emplace_back(call.operands[2], std::vector<double>{4, 4, 4});
  operands.emplace_back(call.operands[3], std::vector<double>{1000, -1000, nan});
  std::vector<Tensor> results = *runKernel(call, operands);
  EXPECT_EQ(results[0].values()[0], 3);
  EXPECT_EQ(results[0].values()[1], 3);
  EXPECT_TRUE(std::isnan(results[0].values()[2]));
  EXPECT_TRUE(std::isnan(results[1].values()[2]));
}

TEST(AttentionMerge, BitsDoNotDependOnThreadsNorOnWhereItIsWritten) {
  KernelCall call = mergeCall(DType::F32, {2, 300, 4, 64});
  std::vector<Tensor> operands;
  for (uint64_t i = 0; i < 4; ++i)
    operands.push_back(randomTensor(call.operands[i], i));
  std::vector<Tensor> one = *runKernel(call, operands, 1), four = *runKernel(call, operands, 4);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(one[i].bytes(), four[i].bytes());
  auto kernel = *createKernel(call);
  ThreadPool threads(2);
  for (int side : {0, 2}) {
    std::vector<Tensor> copies;
    for (const Tensor &operand : operands)
      copies.emplace_back(operand.type(), operand.values());
    ASSERT_TRUE(kernel->mayAlias(side, 0) && kernel->mayAlias(side + 1, 1));
    const void *from[] = {copies[0].data(), copies[1].data(), copies[2].data(), copies[3].data()};
    void *to[] = {copies[static_cast<size_t>(side)].data(), copies[static_cast<size_t>(side) + 1].data()};
    kernel->run({from, to, nullptr}, threads);
    EXPECT_EQ(copies[static_cast<size_t>(side)].bytes(), one[0].bytes());
    EXPECT_EQ(copies[static_cast<size_t>(side) + 1].bytes(), one[1].bytes());
  }
}

TEST(AttentionMerge, RefusesWhatDoesNotFit) {
  auto refusal = [](auto change) {
    KernelCall call = mergeCall(DType::F32, {1, 2, 3, 4});
    change(call);
    return std::string(createKernel(call).status().message());
  };
  EXPECT_EQ(refusal([](KernelCall &call) { call.operands.pop_back(); }),
            "kernel attention_merge: takes 4 operands and 2 results, got 3 and 2");
  EXPECT_EQ(refusal([](KernelCall &call) { call.operands[0].dtype = DType::BF16; }),
            "kernel attention_merge: outputs must be f32 or f64 with 4 dimensions, got tensor<1x2x3x4xbf16>");
  EXPECT_EQ(refusal([](KernelCall &call) { call.operands[1].shape = {1, 2, 3}; }),
            "kernel attention_merge: lse must be tensor<1x3x2xf32>, got tensor<1x2x3xf32>");
  EXPECT_EQ(refusal([](KernelCall &call) { call = mergeCall(DType::F32, {1, 0, 3, 4}); }),
            "kernel attention_merge: outputs are tensor<1x0x3x4xf32>, but no dimension may be empty");
}

} // namespace
} // namespace weft::cpu
