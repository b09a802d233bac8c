#include "runtime/executable/Dump.h"
#include "tests/unit/executable/SampleExecutable.h"
#include "tests/unit/executable/SampleGenerated.h"
#include "tests/unit/executable/SampleMeshExecutable.h"
#include "tests/unit/object/TestObjects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::testing {
namespace {

TEST(Dump, ScheduleReadsAsActionsWithTheirMicrobatches) {
  EXPECT_EQ(dumpSchedule(sampleStep()), "prepare forward_backward.0 forward_backward.1 update");
}

TEST(Dump, NamesEverythingAndShowsNoIndexWithoutItsName) {
  EXPECT_EQ(dump({sampleExecutable()}), R"(executable of weft 0.1.0 for test
config 18 bytes, tokenizer 5 bytes
memory 512 bytes allocated, 1512 at the peak
  base constants (constants): 1 x 128 bytes
  base parameters (parameters): 1 x 64 bytes
  base inputs (inputs): 2 x 64 bytes
  base step (step): 1 x 64 bytes
  base scratch (scratch): 1 x 64 bytes
  base workspace (workspace): 1 x 64 bytes
  row parameters / model: 64 bytes
  row gradients / model: 64 bytes
  row inputs / x: 128 bytes
  row workspaces / multiply: 64 bytes
  row activations / x * w: 64 bytes
  row constants / all: 128 bytes
  row libraries / packing: 1000 bytes outside the arena
variable w : tensor<4xf32> at parameters+0 = normal<0, 0.02> trainable saved as w.weight
cache seen : tensor<4xf32> at step+0
kernel 0 multiply(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) {epsilon = [1e-06], equation = "a,a->a", workspace = [64]} workspace 64
kernel 1 add(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) workspace 0
program step, 2 microbatches
  input x : tensor<4xf32> at inputs+0 per microbatch
  output gradient : tensor<4xf32> at step+0
  schedule: prepare forward_backward.0 forward_backward.1 update
  action prepare
    0: copy 16 bytes (constants+0) -> (step+0)  // prepare
  action forward_backward per microbatch
    1: launch 0 multiply (inputs+0, parameters+0) -> (scratch+0) workspace workspace+0  // layer 0 (model.mlir:3)
    2: launch 1 add (step+0, scratch+0) -> (step+0)  // layer 0 (model.mlir:3)
  action update
    3: launch 0 multiply (step+0, constants+64) -> (scratch+0) workspace workspace+0  // update
    4: launch 1 add (parameters+0, scratch+0) -> (parameters+0)  // update
)");
}

TEST(Dump, ShowsTheObjectAndWhichKernelsItRuns) {
  const std::string object = objectBytes("kernels"), text = dump({sampleGenerated(object)});
  EXPECT_THAT(text, ::testing::HasSubstr("\nobject x86-64-v3, " + std::to_string(object.size()) +
                                         " bytes, 2 functions\nmemory "));
  EXPECT_THAT(text, ::testing::HasSubstr("shape = [4096], symbol = \"weft_multiply_add\"}"));
}

TEST(Dump, ShowsTheMeshAndWhatOfATensorARankHolds) {
  std::string text = dump({sampleMeshExecutable()});
  EXPECT_THAT(
      text, ::testing::HasSubstr("\nmesh of 4 ranks: d0 = 2, d1 = 2; data = [d0, d1], tensor = []\nmemory "));
  EXPECT_THAT(
      text, ::testing::HasSubstr("\nvariable w : tensor<2xf32> of 6 split [d0, d1] at parameters+0 = zeros"));
  EXPECT_THAT(text,
              ::testing::HasSubstr("\n  input x : tensor<1x6xf32> of 4x6 split [d0, d1] [] at inputs+0\n"));
  EXPECT_THAT(text,
              ::testing::HasSubstr("\nkernel 0 all_gather(tensor<2xf32>) -> (tensor<6xf32>) {axes = [0, "
                                   "1], dimension = [0]} workspace 0\n"));
}

} // namespace
} // namespace weft::testing
