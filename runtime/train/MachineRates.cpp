#include "runtime/train/MachineRates.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace weft {
namespace {

/// Large enough to be a product's usual speed, and short enough to fall between what else the machine does.
constexpr int64_t kSize = 384;
constexpr double kMeasureSeconds = 0.25;
constexpr int64_t kCopiedElements = int64_t{16} << 20; ///< of four bytes: more than caches hold

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Seconds of a call.
struct CallSeconds {
  double least, average;
};

/// Of a call that is repeated for about `seconds`, and twice at least.
absl::StatusOr<CallSeconds> measureCall(Device &device, const KernelCall &call, double seconds) {
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = device.createKernel(call, nullptr);
  if (!kernel.ok())
    return kernel.status();
  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<const void *> operands;
  std::vector<void *> results;
  auto allocate = [&](int64_t bytes) -> absl::Status {
    absl::StatusOr<std::unique_ptr<Memory>> part =
        device.allocate(static_cast<uint64_t>(std::max<int64_t>(bytes, 64)));
    if (!part.ok())
      return part.status();
    memory.push_back(*std::move(part));
    return absl::OkStatus();
  };
  for (const TensorType &operand : call.operands) {
    if (absl::Status status = allocate(operand.bytes()); !status.ok())
      return status;
    // Pages that nobody wrote may all be the same one, which lies in every cache. In each type this is a
    // small number.
    std::memset(memory.back()->data(), 0x3c, memory.back()->bytes());
    operands.push_back(memory.back()->data());
  }
  for (const TensorType &result : call.results) {
    if (absl::Status status = allocate(result.bytes()); !status.ok())
      return status;
    results.push_back(memory.back()->data());
  }
  if (absl::Status status = allocate((*kernel)->workspaceBytes()); !status.ok())
    return status;
  absl::StatusOr<std::unique_ptr<Stream>> stream = device.createStream();
  if (!stream.ok())
    return stream.status();
  const KernelArguments arguments = {operands, results, memory.back()->data()};
  double least = std::numeric_limits<double>::infinity(), all = 0;
  int64_t runs = 0;
  const auto start = std::chrono::steady_clock::now();
  do {
    const auto begin = std::chrono::steady_clock::now();
    (*stream)->launch(**kernel, arguments);
    if (absl::Status status = (*stream)->synchronize(); !status.ok())
      return status;
    const double one = secondsSince(begin);
    least = std::min(least, one);
    all += one;
  } while (++runs < 2 || secondsSince(start) < seconds);
  return CallSeconds{std::max(least, 1e-9), std::max(all / static_cast<double>(runs), 1e-9)};
}

} // namespace

absl::StatusOr<ProductRate> measureProductRate(Device &device, DType type, int64_t size, double seconds) {
  KernelCall call;
  call.name = "einsum";
  call.operands = {{type, {size, size}}, {type, {size, size}}};
  call.results = {{DType::F32, {size, size}}};
  call.setText("equation", "mk,kn->mn");
  absl::StatusOr<CallSeconds> measured = measureCall(device, call, seconds);
  if (!measured.ok())
    return measured.status();
  const double operations =
      2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  return ProductRate{operations / measured->least, operations / measured->average};
}

absl::StatusOr<double> measurePeakFlops(Device &device, PrecisionRecipe recipe) {
  const DType type = recipe == PrecisionRecipe::Fp32   ? DType::F32
                     : recipe == PrecisionRecipe::Bf16 ? DType::BF16
                                                       : DType::F16;
  absl::StatusOr<ProductRate> rate = measureProductRate(device, type, kSize, kMeasureSeconds);
  return rate.ok() ? absl::StatusOr<double>(rate->best) : rate.status();
}

absl::StatusOr<double> measureMemoryBandwidth(Device &device) {
  KernelCall call;
  call.name = "copy";
  call.operands = {{DType::F32, {kCopiedElements}}};
  call.results = call.operands;
  absl::StatusOr<CallSeconds> measured = measureCall(device, call, kMeasureSeconds);
  if (!measured.ok())
    return measured.status();
  return 2.0 * static_cast<double>(call.operands.front().bytes()) / measured->least;
}

} // namespace weft
