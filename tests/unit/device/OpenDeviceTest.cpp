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
  absl::StatusOr<std::unique_ptr<Device>> device = openCpuDevice(set, 2);
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
  EXPECT_EQ(openCpuDevice("avx1024", 2).status().message(),
            "the executable is for instruction set avx1024, this machine runs " + known +
                ". Compile it here: weft compile RUN.yaml -o RUN.weft");
}

} // namespace
} // namespace weft::testing
