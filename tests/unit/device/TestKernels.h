//===- TestKernels.h - A few kernels for tests of devices and executors ---===//
//
// add and multiply of float32 tensors of one shape; multiply goes through its workspace and declares it by
// its attribute `workspace`. A device under test needs no kernels/cpu.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_DEVICE_TESTKERNELS_H
#define WEFT_TESTS_UNIT_DEVICE_TESTKERNELS_H

#include "kernels/common/ThreadPool.h"
#include "runtime/device/CpuDevice.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace weft::testing {

class AddKernel : public Kernel {
public:
  explicit AddKernel(int64_t count) : count(count) {}
  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    auto a = static_cast<const float *>(arguments.operands[0]),
         b = static_cast<const float *>(arguments.operands[1]);
    auto c = static_cast<float *>(arguments.results[0]);
    constexpr int64_t kTile = 256;
    threads.forEachTile((count + kTile - 1) / kTile, [&](int64_t tile, int) {
      for (int64_t i = tile * kTile; i < std::min(count, (tile + 1) * kTile); ++i)
        c[i] = a[i] + b[i];
    });
  }
  bool mayAlias(int, int) const override { return true; }

private:
  int64_t count;
};

class MultiplyKernel : public Kernel {
public:
  MultiplyKernel(int64_t count, int64_t workspace) : count(count), workspace(workspace) {}
  void run(const KernelArguments &arguments, ThreadPool &) const override {
    auto a = static_cast<const float *>(arguments.operands[0]),
         b = static_cast<const float *>(arguments.operands[1]);
    auto product = static_cast<float *>(arguments.workspace);
    for (int64_t i = 0; i < count; ++i)
      product[i] = a[i] * b[i];
    std::copy(product, product + count, static_cast<float *>(arguments.results[0]));
  }
  int64_t workspaceBytes() const override { return workspace; }

private:
  int64_t count;
  int64_t workspace;
};

inline absl::StatusOr<std::unique_ptr<Kernel>> createTestKernel(const KernelCall &call, GeneratedFunction *) {
  if (call.operands.size() != 2 || call.results.size() != 1)
    return absl::InvalidArgumentError("takes 2 operands and gives 1 result");
  if (call.name == "add")
    return std::make_unique<AddKernel>(call.results[0].elements());
  if (call.name == "multiply")
    return std::make_unique<MultiplyKernel>(call.results[0].elements(), call.integerOr("workspace", 0));
  return absl::UnimplementedError(absl::StrCat("no kernel '", call.name, "' on this device"));
}

inline std::unique_ptr<Device> createTestDevice(int threads = 2) {
  return createCpuDevice({"test", std::make_shared<ThreadPool>(threads), createTestKernel});
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_DEVICE_TESTKERNELS_H
