//===- MachineProducts.cpp - How fast this machine multiplies matrices ----===//
//
// What a step of training can reach at most: the rate of the products that it consists of, at sizes where
// nothing else counts, for as long as a step takes; and that of memory, which its other passes wait for. A
// type in which this machine is no faster than in float32 saves memory, not time.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/MachineReport.h"

#include "kernels/cpu/Cpu.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/support/Processors.h"
#include "runtime/train/MachineRates.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <string>
#include <utility>

namespace weft {
namespace {

constexpr double kSeconds = 0.5;
constexpr int64_t kSizes[] = {384, 1024, 2048};
constexpr std::pair<DType, const char *> kTypes[] = {{DType::F32, "float32"}, {DType::BF16, "bfloat16"}};

Finding notMeasured(const std::string &name, const absl::Status &status) {
  return {"products", name, "", Presence::Absent, std::string(status.message()), ""};
}

} // namespace

std::vector<Finding> measureProducts() {
  const std::vector<cpu::InstructionSet> sets = cpu::supportedInstructionSets();
  if (sets.empty())
    return {notMeasured("products", absl::FailedPreconditionError("kernels, which need AVX2"))};
  const int64_t threads = std::min<int64_t>(availableProcessors(), ThreadPool::kMostThreads);
  absl::StatusOr<std::shared_ptr<ThreadPool>> pool = openThreadPool(threads);
  if (!pool.ok())
    return {notMeasured("products", pool.status())};
  absl::StatusOr<std::unique_ptr<Device>> device = openCpuDevice(std::string(cpu::name(sets.back())), *pool);
  if (!device.ok())
    return {notMeasured("products", device.status())};
  std::vector<Finding> findings = {{"products", "threads", absl::StrCat(threads), Presence::Found, "", ""}};
  for (const auto &[type, typeName] : kTypes)
    for (int64_t size : kSizes) {
      const std::string name = absl::StrCat(typeName, " ", size, "^3");
      absl::StatusOr<ProductRate> rate = measureProductRate(**device, type, size, kSeconds);
      findings.push_back(rate.ok() ? Finding{"products", name,
                                             absl::StrFormat("%.1f GFLOP/s", rate->sustained * 1e-9),
                                             Presence::Found, "", ""}
                                   : notMeasured(name, rate.status()));
    }
  absl::StatusOr<double> bytes = measureMemoryBandwidth(**device);
  findings.push_back(bytes.ok()
                         ? Finding{"products", "memory, read and written",
                                   absl::StrFormat("%.1f GB/s", *bytes * 1e-9), Presence::Found, "", ""}
                         : notMeasured("memory, read and written", bytes.status()));
  return findings;
}

} // namespace weft
