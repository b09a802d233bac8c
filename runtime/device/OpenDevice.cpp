#include "runtime/device/OpenDevice.h"

#include "kernels/cpu/Cpu.h"
#include "runtime/device/CpuDevice.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <system_error>
#include <utility>

namespace weft {

absl::StatusOr<std::shared_ptr<ThreadPool>> openThreadPool(int64_t threads) {
  if (threads < 1 || threads > ThreadPool::kMostThreads)
    return absl::InvalidArgumentError(
        absl::StrCat("launch.threads is ", threads, ", it must be 1 to ", ThreadPool::kMostThreads));
  try {
    return std::make_shared<ThreadPool>(static_cast<int>(threads));
  } catch (const std::system_error &error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("launch.threads: ", threads, " threads cannot be started: ", error.what()));
  }
}

absl::StatusOr<std::unique_ptr<Device>> openCpuDevice(const std::string &instructionSet,
                                                      std::shared_ptr<ThreadPool> pool) {
  std::vector<std::string> supported;
  for (cpu::InstructionSet set : cpu::supportedInstructionSets()) {
    supported.emplace_back(cpu::name(set));
    if (supported.back() != instructionSet)
      continue;
    if (absl::Status status = cpu::useInstructionSet(set); !status.ok())
      return status;
    return createCpuDevice({instructionSet, std::move(pool), cpu::createKernel});
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the executable is for instruction set ", instructionSet, ", this machine runs ",
      supported.empty() ? "none that weft knows (it needs AVX2)" : absl::StrJoin(supported, ", "),
      ". Compile it here: weft compile RUN.yaml -o RUN.weft"));
}

} // namespace weft
