#include "runtime/device/OpenDevice.h"

#include "kernels/cpu/Cpu.h"
#include "runtime/device/CpuDevice.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {

absl::StatusOr<std::unique_ptr<Device>> openCpuDevice(const std::string &instructionSet, int threads) {
  std::vector<std::string> supported;
  for (cpu::InstructionSet set : cpu::supportedInstructionSets()) {
    supported.emplace_back(cpu::name(set));
    if (supported.back() != instructionSet)
      continue;
    if (absl::Status status = cpu::useInstructionSet(set); !status.ok())
      return status;
    return createCpuDevice({instructionSet, threads, cpu::createKernel});
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the executable is for instruction set ", instructionSet, ", this machine runs ",
      supported.empty() ? "none that weft knows (it needs AVX2)" : absl::StrJoin(supported, ", "),
      ". Compile it here: weft compile RUN.yaml -o RUN.weft"));
}

} // namespace weft
