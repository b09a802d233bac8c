// Executables whose element-wise calls name functions of their object, on the CPU as it is opened for runs.
// One instruction set per process: ctest runs each of these tests in a process of its own.
#include "kernels/cpu/Cpu.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/comm/MeshContext.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/exec/Executor.h"
#include "runtime/executable/ObjectTarget.h"
#include "tests/unit/executable/SampleGenerated.h"
#include "tests/unit/object/TestObjects.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

namespace weft::testing {
namespace {

constexpr int64_t kCount = 2 * kGeneratedTile + 1008; // of which the last tile is not full

std::string instructionSet() { return std::string(cpu::name(cpu::supportedInstructionSets().back())); }

Executable sample() {
  Executable executable = sampleGenerated(objectBytes("kernels"), kCount);
  executable.target = {instructionSet()};
  return executable;
}

/// The same step without generated kernels.
Executable interpreted(Executable executable) {
  executable.object = {};
  executable.kernels[0].call.attributes.erase(kSymbolAttribute);
  return executable;
}

/// The bytes of w and of the output after two runs.
std::string runTwice(const Executable &executable, std::shared_ptr<ThreadPool> pool,
                     const RankContext *context = nullptr) {
  std::unique_ptr<Device> device = *openCpuDevice(executable.target.instructionSet, std::move(pool));
  absl::StatusOr<std::unique_ptr<Executor>> created = Executor::create(executable, *device, context);
  EXPECT_EQ(created.status(), absl::OkStatus());
  Executor &executor = **created;
  ProgramHandle step = *executor.program("step");
  std::span<float> x = executor.input(step, "x")->as<float>(), w = executor.variable(0).as<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::sin(static_cast<float>(i));
    w[i] = std::cos(static_cast<float>(i) / 3);
  }
  x[5] = std::numeric_limits<float>::infinity(), w[7] = std::numeric_limits<float>::quiet_NaN();
  x[9] = 1e-40f, w[11] = -0.0f, x[kGeneratedTile] = 3e38f;
  std::string bytes;
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(executor.run(step), absl::OkStatus());
    for (const HostTensor &tensor : {executor.variable(0), *executor.output(step, "seen")})
      bytes.append(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size());
  }
  return bytes;
}

TEST(GeneratedExecutor, HasTheBitsOfTheInterpreterOnAnyNumberOfThreads) {
  const std::string expected = runTwice(interpreted(sample()), std::make_shared<ThreadPool>(1));
  for (int threads : {1, 2, 3, 7, 128})
    EXPECT_TRUE(runTwice(sample(), std::make_shared<ThreadPool>(threads)) == expected) << threads;
}

TEST(GeneratedExecutor, RunsTheObjectAndNotTheProgramOfTheCall) {
  const auto pool = std::make_shared<ThreadPool>(1);
  Executable executable = sample();
  executable.kernels[0].call.setText(kSymbolAttribute, "weft_alternate"); // which leaves `seen` as it is
  EXPECT_NE(runTwice(executable, pool), runTwice(sample(), pool));
}

TEST(GeneratedExecutor, VirtualRanksShareOneObject) {
  constexpr int kRanks = 4;
  const auto pool = std::make_shared<ThreadPool>(2);
  Executable executable = sample();
  executable.mesh.axes = {{"d0", kRanks}};
  executable.mesh.roles = {{"data", {0}}};
  const std::string expected = runTwice(sample(), pool);
  std::vector<std::string> bytes(kRanks);
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Communicator>> group = *createLocalGroup(kRanks);
  for (std::unique_ptr<Communicator> &own : group)
    threads.emplace_back([&, communicator = std::move(own)] {
      std::unique_ptr<RankContext> context = *createRankContext(executable.mesh, *communicator);
      bytes[static_cast<size_t>(communicator->rank())] = runTwice(executable, pool, context.get());
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &own : bytes)
    EXPECT_TRUE(own == expected);
}

TEST(GeneratedExecutor, ADeviceNeedsTheCodeThatACallNames) {
  std::unique_ptr<Device> device = *openCpuDevice(instructionSet(), std::make_shared<ThreadPool>(1));
  const KernelCall call = multiplyAdd({DType::F32, {64}});
  EXPECT_EQ(device->createKernel(call, nullptr).status().message(),
            "cpu: kernel elementwise names the function 'weft_multiply_add', which no loaded object defines");
  std::unique_ptr<DeviceCode> code = *device->loadCode(objectBytes("imports"));
  EXPECT_EQ(device->createKernel(call, code.get()).status().message(),
            "cpu: kernel elementwise names the function 'weft_multiply_add', which the loaded object does "
            "not define");
  code = *device->loadCode(objectBytes("kernels"));
  EXPECT_EQ(device->createKernel(call, code.get()).status(), absl::OkStatus());
}

/// The table of runtime/executable knows every instruction set of kernels/cpu.
TEST(GeneratedExecutor, EveryInstructionSetRunsAnObject) {
  using cpu::InstructionSet;
  for (InstructionSet set :
       {InstructionSet::AVX2, InstructionSet::AVX512, InstructionSet::AVX512_BF16, InstructionSet::AMX_BF16})
    EXPECT_EQ(objectTarget(cpu::name(set)), set == InstructionSet::AVX2 ? "x86-64-v3" : "x86-64-v4");
}

} // namespace
} // namespace weft::testing
