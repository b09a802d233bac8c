#include "runtime/train/ModelFlops.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/train/MachineRates.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

Variable parameter(std::vector<int64_t> shape) {
  Variable variable;
  variable.type = {DType::F32, std::move(shape)};
  variable.trainable = true;
  return variable;
}

TEST(ModelFlops, CountsMatricesAndAttention) {
  Config config;
  config.model.vocabSize = 100;
  config.model.hiddenSize = 8;
  config.model.numHiddenLayers = 3;
  config.model.numAttentionHeads = 2;
  config.model.headDim = 4;
  config.data.sequenceLength = 16;
  Executable executable;
  executable.variables = {parameter({100, 8}), parameter({8, 8}), parameter({8}), parameter({100, 8})};
  const double attention = 6.0 * 3 * 2 * 4 * 16;
  EXPECT_EQ(*modelFlopsPerToken(config, {executable}), 6.0 * (64 + 800) + attention);
  config.model.tieWordEmbeddings = true; // then the one table is the output layer too
  executable.variables.pop_back();
  EXPECT_EQ(*modelFlopsPerToken(config, {executable}), 6.0 * (800 + 64) + attention);
  executable.mesh.axes = {{"t0", 3}};
  executable.variables[0].type.shape = {34, 8}; // a rank's part, padded, of the whole
  executable.variables[0].placement = {{100, 8}, {{{0}}, {{}}}};
  EXPECT_EQ(*modelFlopsPerToken(config, {executable}), 6.0 * (800 + 64) + attention);
  executable.variables.push_back(parameter({32, 8})); // learned positions are looked up
  executable.variables.back().name = "transformer.wpe.weight";
  EXPECT_EQ(*modelFlopsPerToken(config, {executable}), 6.0 * (800 + 64) + attention);
  config.model.program = "/some.mlir";
  EXPECT_FALSE(modelFlopsPerToken(config, {executable}));
}

TEST(ModelFlops, ThePeakOfThisMachineIsMeasured) {
  absl::StatusOr<std::unique_ptr<Device>> device = openCpuDevice("avx2", std::make_shared<ThreadPool>(1));
  ASSERT_EQ(device.status(), absl::OkStatus());
  absl::StatusOr<double> peak = measurePeakFlops(**device, PrecisionRecipe::Fp32);
  ASSERT_EQ(peak.status(), absl::OkStatus());
  EXPECT_GT(*peak, 1e8);
  EXPECT_LT(*peak, 1e13);
  for (DType type : {DType::F32, DType::BF16, DType::F16}) {
    absl::StatusOr<ProductRate> larger = measureProductRate(**device, type, 512, 0.05);
    ASSERT_EQ(larger.status(), absl::OkStatus());
    EXPECT_GT(larger->sustained, 1e8);
    EXPECT_GE(larger->best, larger->sustained);
    EXPECT_LT(larger->best, 1e13);
  }
}

TEST(ModelFlops, TheMemoryOfThisMachineIsMeasured) {
  absl::StatusOr<std::unique_ptr<Device>> device = openCpuDevice("avx2", std::make_shared<ThreadPool>(1));
  ASSERT_EQ(device.status(), absl::OkStatus());
  absl::StatusOr<double> bandwidth = measureMemoryBandwidth(**device);
  ASSERT_EQ(bandwidth.status(), absl::OkStatus());
  EXPECT_GT(*bandwidth, 1e8);
  EXPECT_LT(*bandwidth, 1e12);
}

} // namespace
} // namespace weft
