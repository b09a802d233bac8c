// Steps allocate nothing: malloc and operator new are counted in this program, on every thread.
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/comm/MeshContext.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/exec/Executor.h"
#include "tests/unit/device/TestKernels.h"
#include "tests/unit/executable/SampleExecutable.h"
#include "tests/unit/executable/SampleGenerated.h"
#include "tests/unit/executable/SampleMeshExecutable.h"
#include "tests/unit/executable/SamplePipeline.h"
#include "tests/unit/object/TestObjects.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>

namespace {
std::atomic<int64_t> allocations{0};
}

extern "C" void *__libc_malloc(size_t bytes); // NOLINT(bugprone-reserved-identifier): the C library's name

/// operator new goes through here as well.
extern "C" void *malloc(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}

namespace weft::testing {
namespace {

TEST(Allocation, TheCounterCounts) {
  int64_t before = allocations.load();
  std::unique_ptr<std::string> text = std::make_unique<std::string>(100, 'x');
  EXPECT_GE(allocations.load() - before, 2);
}

TEST(Allocation, StepsAllocateNothing) {
  std::unique_ptr<Device> device = createTestDevice(2);
  std::unique_ptr<Executor> executor = *Executor::create(sampleExecutable(), *device);
  ProgramHandle step = *executor->program("step");
  int64_t before = allocations.load();
  bool allOk = true;
  for (int i = 0; i < 1000; ++i)
    allOk = executor->run(step).ok() && allOk;
  EXPECT_EQ(allocations.load() - before, 0);
  EXPECT_TRUE(allOk);
}

TEST(Allocation, StepsThatAreTimedAllocateNothing) {
  std::unique_ptr<Device> device = createTestDevice(2);
  std::unique_ptr<Executor> executor = *Executor::create(sampleExecutable(), *device);
  ProgramHandle step = *executor->program("step");
  RunTimes times(executor->executable().programs[step.index]);
  int64_t before = allocations.load();
  bool allOk = true;
  for (int i = 0; i < 1000; ++i)
    allOk = executor->run(step, &times).ok() && allOk;
  EXPECT_EQ(allocations.load() - before, 0);
  EXPECT_TRUE(allOk);
}

TEST(Allocation, StepsWithGeneratedKernelsAllocateNothing) {
  Executable executable = sampleGenerated(objectBytes("kernels"), 4 * kGeneratedTile);
  std::unique_ptr<Device> device =
      *openCpuDevice(executable.target.instructionSet, std::make_shared<ThreadPool>(2));
  std::unique_ptr<Executor> executor = *Executor::create(std::move(executable), *device);
  ProgramHandle step = *executor->program("step");
  int64_t before = allocations.load();
  bool allOk = true;
  for (int i = 0; i < 100; ++i)
    allOk = executor->run(step).ok() && allOk;
  EXPECT_EQ(allocations.load() - before, 0);
  EXPECT_TRUE(allOk);
}

/// Steps of an executable on each of four ranks.
void expectNoAllocations(const std::function<Executable(int64_t)> &executableOf) {
  std::vector<std::unique_ptr<Communicator>> communicators = *createLocalGroup(4);
  std::vector<std::thread> threads;
  for (std::unique_ptr<Communicator> &own : communicators)
    threads.emplace_back([&executableOf, communicator = std::move(own)] {
      Executable executable = executableOf(communicator->rank());
      std::unique_ptr<Device> device = createTestDevice(1);
      std::unique_ptr<RankContext> context = *createRankContext(executable.mesh, *communicator);
      std::unique_ptr<Executor> executor = *Executor::create(std::move(executable), *device, context.get());
      ProgramHandle step = *executor->program("step");
      bool allOk = communicator->barrier().ok();
      int64_t before = allocations.load();
      allOk = communicator->barrier().ok() && allOk;
      for (int i = 0; i < 100; ++i)
        allOk = executor->run(step).ok() && allOk;
      allOk = communicator->barrier().ok() && allOk;
      int64_t after = allocations.load();
      allOk = communicator->barrier().ok() && allOk;
      EXPECT_EQ(after - before, 0);
      EXPECT_TRUE(allOk);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Allocation, StepsWithCollectivesAllocateNothing) {
  expectNoAllocations([](int64_t) { return sampleMeshExecutable(); });
}

TEST(Allocation, StepsWithMessagesAllocateNothing) {
  expectNoAllocations([](int64_t rank) { return samplePipelinePart(rank / 2); });
}

} // namespace
} // namespace weft::testing
