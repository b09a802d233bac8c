//===- StepAllocationTest.cpp - Real steps allocate nothing of ours -------------===//
//
// Compiles a small Llama, runs its steps on the real kernels, half of them timed, and counts every allocation
// of steps 3 to N on every thread by who asked for it: our code is this program (all our libraries are linked
// into it); oneDNN and its OpenMP runtime are shared libraries. Ours must be none; oneDNN's own are printed,
// and the largest of them, a packing buffer, is bounded.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/TestFolder.h"

#include "runtime/device/OpenDevice.h"
#include "runtime/exec/Executor.h"
#include "runtime/executable/ExecutableFile.h"

#include "absl/strings/str_replace.h"
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {
std::atomic<bool> counting{false};
std::atomic<int64_t> ours{0}, libraries{0}, libraryBytes{0}, largest{0};
const void *ownModule = nullptr;

const void *moduleOf(const void *address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// C++ allocations come through libstdc++'s operator new, which is replaced below: `caller` is who wrote
/// `new`.
void count(size_t bytes, const void *caller) {
  if (!counting.load(std::memory_order_relaxed))
    return;
  if (moduleOf(caller) == ownModule) {
    ours.fetch_add(1);
    return;
  }
  libraries.fetch_add(1);
  libraryBytes.fetch_add(static_cast<int64_t>(bytes));
  for (int64_t seen = largest.load(); static_cast<int64_t>(bytes) > seen;)
    if (largest.compare_exchange_weak(seen, static_cast<int64_t>(bytes)))
      break;
}
} // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): what glibc calls them
extern "C" void *__libc_malloc(size_t bytes);
extern "C" void *__libc_memalign(size_t alignment, size_t bytes);
extern "C" void *__libc_calloc(size_t number, size_t bytes);
// NOLINTEND(bugprone-reserved-identifier)

extern "C" void *malloc(size_t bytes) {
  count(bytes, __builtin_return_address(0));
  return __libc_malloc(bytes);
}
extern "C" void *calloc(size_t number, size_t bytes) {
  count(number * bytes, __builtin_return_address(0));
  return __libc_calloc(number, bytes);
}
extern "C" int posix_memalign(void **result, size_t alignment, size_t bytes) {
  count(bytes, __builtin_return_address(0));
  *result = __libc_memalign(alignment, bytes);
  return *result ? 0 : ENOMEM;
}
void *operator new(size_t bytes) {
  count(bytes, __builtin_return_address(0));
  if (void *memory = __libc_malloc(bytes))
    return memory;
  std::abort();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace weft {
namespace {

constexpr const char *kRun = R"(
model: {family: llama, hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2,
        intermediate_size: 128, vocab_size: 257, max_position_embeddings: 32}
data: {train: [{path: text.txt}], sequence_length: 32}
optimizer: {kind: adamw, lr: 1.0e-3}
train: {steps: 10, micro_batch: 2, global_batch: 4}
launch: {threads: 2}
)";

std::unique_ptr<Executor> compileAndLoad(std::unique_ptr<Device> &device) {
  TestFolder folder;
  folder.write("text.txt", "text");
  std::string run = folder.write("run.yaml", kRun), file = folder / "run.weft";
  std::string command = std::string(WEFT_COMPILE) + " " + run + " -o " + file + " > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0); // NOLINT(bugprone-command-processor)
  absl::StatusOr<std::vector<Executable>> parts = readExecutables(file);
  EXPECT_TRUE(parts.ok()) << parts.status();
  Executable *executable = &parts->front();
  absl::StatusOr<std::unique_ptr<Device>> opened =
      openCpuDevice(executable->target.instructionSet, std::make_shared<ThreadPool>(2));
  EXPECT_TRUE(opened.ok()) << opened.status();
  device = *std::move(opened);
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::create(std::move(*executable), *device);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *std::move(executor);
}

TEST(StepAllocation, StepsThreeToTenAllocateNothingOfOurs) {
  ownModule = moduleOf(reinterpret_cast<const void *>(&compileAndLoad));
  ASSERT_NE(ownModule, nullptr);
  std::unique_ptr<Device> device;
  std::unique_ptr<Executor> executor = compileAndLoad(device);
  ProgramHandle step = *executor->program("step");
  for (int warmup = 0; warmup < 2; ++warmup)
    ASSERT_TRUE(executor->run(step).ok());
  bool allOk = true;
  RunTimes times(executor->executable().programs[step.index]);
  counting = true;
  constexpr int kSteps = 8;
  for (int index = 0; index < kSteps; ++index)
    allOk = executor->run(step, index % 2 == 0 ? &times : nullptr).ok() && allOk;
  counting = false;
  EXPECT_TRUE(allOk);
  EXPECT_EQ(ours.load(), 0);
  std::printf("libraries: %ld allocations, %ld bytes, largest %ld, in %d steps\n", libraries.load(),
              libraryBytes.load(), largest.load(), kSteps);
  // gemm:jit packs at most a panel of each operand: far below 5 MiB for products of 64 x 257.
  EXPECT_LE(largest.load(), int64_t{5} << 20);
}

TEST(StepAllocation, AnAllocationOfOursIsSeen) {
  ownModule = moduleOf(reinterpret_cast<const void *>(&compileAndLoad));
  int64_t before = ours.load();
  counting = true;
  std::string text(1000, 'x');
  counting = false;
  EXPECT_GT(ours.load(), before) << text.size();
}

} // namespace
} // namespace weft
