// Element-wise calls as generated functions. The functions here are C++; tests/unit/exec runs some of a
// shared object, tests/lit those that the compiler writes.
#include "TestSupport.h"
#include "kernels/common/ElementwiseOps.h"
#include "kernels/common/ThreadPool.h"

#include <algorithm>
#include <mutex>

namespace weft::testing {
namespace {

KernelCall scaledCopy(std::vector<int64_t> shape, std::vector<int64_t> strides) {
  const TensorType type{DType::F32, shape};
  KernelCall call{"elementwise", {type, {DType::F32, {}}}, {type}, {}};
  strides.insert(strides.end(), shape.size(), 0);
  call.setIntegers("shape", shape);
  call.setIntegers("operand_strides", strides);
  call.setIntegers("constants", {});
  call.setIntegers("constant_types", {});
  std::vector<int64_t> program;
  appendInstruction(program, {ElementwiseOp::Multiply, DType::F32, {0, 1, -1}});
  call.setIntegers("program", program);
  call.setIntegers("outputs", {2});
  return call;
}

extern "C" void scale(const void *const *operands, void *const *results, int64_t begin, int64_t end) {
  auto x = static_cast<const float *>(operands[0]), factor = static_cast<const float *>(operands[1]);
  auto result = static_cast<float *>(results[0]);
  for (int64_t i = begin; i < end; ++i)
    result[i] = x[i] * *factor;
}

std::vector<float> run(const Kernel &kernel, int64_t count, int threads, bool isInPlace) {
  Tensor x = randomTensor(DType::F32, {count}, 3), factor(DType::F32, {}, {1.0 / 3}),
         result(DType::F32, {count});
  const void *operands[] = {x.data(), factor.data()};
  void *results[] = {isInPlace ? x.data() : result.data()};
  ThreadPool pool(threads);
  kernel.run({operands, results, nullptr}, pool);
  auto first = static_cast<const float *>(results[0]);
  return {first, first + count};
}

TEST(CpuGenerated, HasTheBitsOfTheInterpreterOnAnyNumberOfThreadsAndInPlace) {
  for (int64_t count : {int64_t{1}, kGeneratedTile, 3 * kGeneratedTile + 77}) {
    const KernelCall call = scaledCopy({count}, {1});
    std::unique_ptr<Kernel> interpreter = *cpu::createKernel(call),
                            generated = *cpu::createKernel(call, scale);
    const std::vector<float> expected = run(*interpreter, count, 1, false);
    for (int threads : {1, 2, 5})
      for (bool isInPlace : {false, true})
        EXPECT_TRUE(run(*generated, count, threads, isInPlace) == expected) << count << " on " << threads;
  }
}

std::mutex mutex;
std::vector<std::pair<int64_t, int64_t>> tiles;

extern "C" void noteTile(const void *const *, void *const *, int64_t begin, int64_t end) {
  std::lock_guard lock(mutex);
  tiles.emplace_back(begin, end);
}

TEST(CpuGenerated, TilesAreThoseOfTheCallWhateverTheThreads) {
  const int64_t count = 2 * kGeneratedTile + 9;
  std::unique_ptr<Kernel> kernel = *cpu::createKernel(scaledCopy({count}, {1}), noteTile);
  const std::vector<std::pair<int64_t, int64_t>> expected = {
      {0, kGeneratedTile}, {kGeneratedTile, 2 * kGeneratedTile}, {2 * kGeneratedTile, count}};
  for (int threads : {1, 2, 5}) {
    tiles.clear();
    run(*kernel, count, threads, false);
    std::sort(tiles.begin(), tiles.end());
    EXPECT_EQ(tiles, expected);
  }
}

TEST(CpuGenerated, WorkspaceAndAliasesAreThoseOfTheInterpreter) {
  for (const auto &strides : {std::vector<int64_t>{4, 1}, {1, 4}}) { // dense, and turned
    const KernelCall call = scaledCopy({4, 4}, strides);
    std::unique_ptr<Kernel> interpreter = *cpu::createKernel(call),
                            generated = *cpu::createKernel(call, scale);
    EXPECT_EQ(generated->workspaceBytes(), interpreter->workspaceBytes());
    for (int operand : {0, 1})
      EXPECT_EQ(generated->mayAlias(operand, 0), interpreter->mayAlias(operand, 0));
    EXPECT_EQ(generated->mayAlias(0, 0), strides[1] == 1);
  }
}

TEST(CpuGenerated, ACallThatTheInterpreterDoesNotTakeIsRefused) {
  KernelCall call = scaledCopy({16}, {2});
  absl::Status status = cpu::createKernel(call, scale).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status, cpu::createKernel(call).status());
}

} // namespace
} // namespace weft::testing
