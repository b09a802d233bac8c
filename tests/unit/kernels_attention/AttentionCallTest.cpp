//===- AttentionCallTest.cpp - What calls of attention may ask for -------===//
#include "AttentionReference.h"

#include "kernels/cpu/Cpu.h"

#include "gmock/gmock.h"

#include <limits>

namespace weft::cpu {
namespace {

/// Kernels are created before memory is asked for: a damaged file may name any sizes.
TEST(AttentionShares, OfAnyNumberOfTilesAreKnownAtOnce) {
  for (DType type : {DType::F32, DType::BF16}) {
    AttentionCase c{.batch = int64_t{1} << 40,
                    .queries = 1,
                    .keys = 1,
                    .heads = 1,
                    .groups = 1,
                    .depth = 1,
                    .width = 1,
                    .type = type};
    EXPECT_TRUE(createKernel(c.forwardCall()).ok());
    EXPECT_TRUE(createKernel(c.backwardCall()).ok());
    c.batch = 1, c.queries = c.keys = int64_t{1} << 40;
    EXPECT_TRUE(createKernel(c.forwardCall()).ok());
    EXPECT_TRUE(createKernel(c.backwardCall()).ok());
  }
}

TEST(AttentionWorkspace, DoesNotGrowWithQueriesTimesKeys) {
  AttentionCase c{
      .batch = 1, .queries = 4096, .keys = 4096, .heads = 8, .groups = 8, .depth = 64, .width = 64};
  int64_t forward = (*createKernel(c.forwardCall()))->workspaceBytes();
  int64_t backward = (*createKernel(c.backwardCall()))->workspaceBytes();
  c.queries = c.keys = 8192;
  EXPECT_EQ((*createKernel(c.forwardCall()))->workspaceBytes(), forward);
  // The backward holds D = rowsum(do * o), one float a row.
  EXPECT_EQ((*createKernel(c.backwardCall()))->workspaceBytes(), backward + 4096 * 8 * 4);
  EXPECT_LT(backward, 8 << 20);
}

/// By tiles a group's dq is summed in float32 in one pass, where others take a second one.
TEST(AttentionWorkspace, OfBfloat16GrowsWithQueriesAlone) {
  AttentionCase c{.batch = 1,
                  .queries = 4096,
                  .keys = 4096,
                  .heads = 8,
                  .groups = 8,
                  .depth = 64,
                  .width = 64,
                  .type = DType::BF16};
  auto backwardBytes = [&] { return (*createKernel(c.backwardCall()))->workspaceBytes(); };
  int64_t forward = (*createKernel(c.forwardCall()))->workspaceBytes(), before = backwardBytes();
  c.keys = 8192;
  EXPECT_EQ((*createKernel(c.forwardCall()))->workspaceBytes(), forward);
  EXPECT_EQ(backwardBytes(), before);
  c.queries = 8192;
  EXPECT_EQ((*createKernel(c.forwardCall()))->workspaceBytes(), forward);
  // D for each row, and a row of dq.
  EXPECT_LE(backwardBytes(), before + 4096 * 8 * (4 + 64 * 4));
}

absl::Status statusOf(const KernelCall &call) { return createKernel(call).status(); }

TEST(AttentionRefuses, WhatDoesNotFitTheSignature) {
  auto expect = [](const char *message, auto change, bool backward = false) {
    KernelCall call = backward ? smallAttention().backwardCall() : smallAttention().forwardCall();
    change(call);
    absl::Status status = statusOf(call);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), message);
  };
  expect("kernel attention: attribute 'scale' must be one number",
         [](KernelCall &c) { c.attributes.erase("scale"); });
  expect("kernel attention: attribute 'scale' is nan, but must be finite",
         [](KernelCall &c) { c.setNumber("scale", std::nan("")); });
  expect("kernel attention: attribute 'softcap' is -1, but must be 0 (none) or positive",
         [](KernelCall &c) { c.setNumber("softcap", -1); });
  expect("kernel attention: attribute 'window' is -3, but must be 0 (none) or positive",
         [](KernelCall &c) { c.setInteger("window", -3); });
  expect("kernel attention: attribute 'causal' is 2, but must be 0 or 1",
         [](KernelCall &c) { c.setInteger("causal", 2); });
  expect("kernel attention: 3 operands were given, but the signature has 5",
         [](KernelCall &c) { c.setInteger("has_segments", 1); });
  expect("kernel attention: 1 results were given, but the signature has 2",
         [](KernelCall &c) { c.results.pop_back(); });
  expect("kernel attention: q is tensor<7x2x4xf32>, but must have 4 dimensions",
         [](KernelCall &c) { c.operands[0].shape = {7, 2, 4}; });
  expect("kernel attention: k is tensor<1x0x1x4xf32>, but no dimension may be empty",
         [](KernelCall &c) { c.operands[1].shape[1] = 0; });
  expect("kernel attention: k is tensor<1x9x1x5xf32>, but its shape must be 1x9x1x4",
         [](KernelCall &c) { c.operands[1].shape[3] = 5; });
  expect("kernel attention: v is tensor<1x8x1x3xf32>, but its shape must be 1x9x1x3",
         [](KernelCall &c) { c.operands[2].shape[1] = 8; });
  expect("kernel attention: q has 2 heads, which must be a multiple of the 3 of k",
         [](KernelCall &c) { c.operands[1].shape[2] = c.operands[2].shape[2] = 3; });
  expect(
      "kernel attention: k is tensor<1x9x1x4xf64>, but its type must be bf16, f16 or f32, unless q's is f64",
      [](KernelCall &c) { c.operands[1].dtype = DType::F64; });
  expect("kernel attention: k is tensor<1x9x1x4xf32>, but its type must be f64, as q's is",
         [](KernelCall &c) { c.operands[0].dtype = DType::F64; });
  expect("kernel attention: lse is tensor<1x2x7xbf16>, but its type must be f32",
         [](KernelCall &c) { c.results[1].dtype = DType::BF16; });
  expect(
      "kernel attention_backward: do is tensor<1x7x2x4xf32>, but its shape must be 1x7x2x3",
      [](KernelCall &c) { c.operands[0].shape[3] = 4; }, true);
  expect(
      "kernel attention_backward: dk is tensor<1x9x1x3xf32>, but its shape must be 1x9x1x4",
      [](KernelCall &c) { c.results[1].shape[3] = 3; }, true);
  expect(
      "kernel attention_backward: 4 results were given, but the signature has 3",
      [](KernelCall &c) { c.results.push_back(c.results[0]); }, true);
}

TEST(AttentionRefuses, PositionsOfAnotherTypeOrShape) {
  AttentionCase c = smallAttention();
  c.segments = true, c.positions = Positions::Shuffled;
  KernelCall call = c.forwardCall();
  call.operands[5].dtype = DType::I64;
  EXPECT_EQ(statusOf(call).message(),
            "kernel attention: positions are tensor<1x7xi64>, but their type must be i32");
  call = c.backwardCall();
  call.operands[9].shape = {1, 7};
  EXPECT_EQ(statusOf(call).message(),
            "kernel attention_backward: positions_k is tensor<1x7xi32>, but its shape must be 1x9");
  call.setInteger("has_positions", 0);
  EXPECT_EQ(statusOf(call).message(),
            "kernel attention_backward: 10 operands were given, but the signature has 8");
}

TEST(AttentionRefuses, SegmentsAndSinksOfAnotherTypeOrShape) {
  AttentionCase c = smallAttention();
  c.segments = c.sinks = true;
  KernelCall call = c.forwardCall();
  call.operands[4].dtype = DType::I64;
  EXPECT_EQ(statusOf(call).message(),
            "kernel attention: segments are tensor<1x9xi64>, but their type must be i32");
  call = c.forwardCall();
  call.operands[3].shape = {1, 8};
  EXPECT_EQ(statusOf(call).message(),
            "kernel attention: segments_q is tensor<1x8xi32>, but its shape must be 1x7");
  call = c.forwardCall();
  call.operands[5].shape = {1};
  EXPECT_EQ(statusOf(call).message(), "kernel attention: sinks is tensor<1xf32>, but its shape must be 2");
  call = c.backwardCall();
  call.results[3].dtype = DType::BF16;
  EXPECT_EQ(statusOf(call).message(),
            "kernel attention_backward: dsinks is tensor<2xbf16>, but its type must be f32");
}

} // namespace
} // namespace weft::cpu
