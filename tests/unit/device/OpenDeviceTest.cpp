// One instruction set per process: ctest runs each of these tests in a process of its own.
#include "runtime/device/OpenDevice.h"
#include "kernels/common/ElementwiseOps.h"
#include "kernels/cpu/Cpu.h"

#include <gtest/gtest.h>

namespace weft::testing {
namespace {

TEST(OpenDevice, OpensTheCpuForTheHighestInstructionSetOfThisMachine) {
  ASSERT_FALSE(cpu::supportedInstructionSets().empty());
  std::string set(cpu::name(cpu::supportedInstructionSets().back()));
  absl::StatusOr<std::unique_ptr<Device>> device = openCpuDevice(set, std::make_shared<ThreadPool>(2));
  ASSERT_EQ(device.status(), absl::OkStatus());
  EXPECT_EQ((*device)->instructionSet(), set);
  TensorType four{DType::F32, {4}};
  KernelCall add{"elementwise", {four, four}, {four}, {}};
  add.setIntegers("shape", {4});
  add.setIntegers("operand_strides", {1, 1});
  add.setIntegers("constants", {});
  add.setIntegers("constant_types", {});
  add.setIntegers("program",
                  {static_cast<int64_t>(ElementwiseOp::Add), static_cast<int64_t>(DType::F32), 0, 1, -1});
  add.setIntegers("outputs", {2});
  EXPECT_EQ((*device)->createKernel(add, nullptr).status(), absl::OkStatus());
}

TEST(OpenDevice, AnInstructionSetThatThisMachineLacksIsRefusedWithThoseItRuns) {
  std::string known;
  for (cpu::InstructionSet set : cpu::supportedInstructionSets())
    known += (known.empty() ? "" : ", ") + std::string(cpu::name(set));
  EXPECT_EQ(openCpuDevice("avx1024", std::make_shared<ThreadPool>(2)).status().message(),
            "the executable is for instruction set avx1024, this machine runs " + known +
                ". Compile it here: weft compile RUN.yaml -o RUN.weft");
}

TEST(OpenDevice, APoolHas1To128Threads) {
  for (int threads : {1, 128}) {
    absl::StatusOr<std::shared_ptr<ThreadPool>> pool = openThreadPool(threads);
    ASSERT_EQ(pool.status(), absl::OkStatus());
    EXPECT_EQ((*pool)->size(), threads);
  }
  for (int64_t threads : {int64_t{0}, int64_t{129}, int64_t{1} << 32})
    EXPECT_EQ(openThreadPool(threads).status().message(),
              "launch.threads is " + std::to_string(threads) + ", it must be 1 to 128");
}

} // namespace
} // namespace weft::testing
