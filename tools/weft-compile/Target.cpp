#include "tools/weft-compile/Target.h"

#include "kernels/cpu/Cpu.h"

#include <string>
#include <vector>

namespace weft {

static absl::StatusOr<cpu::InstructionSet> chooseInstructionSet(InstructionSetChoice choice) {
  std::vector<cpu::InstructionSet> supported = cpu::supportedInstructionSets();
  if (supported.empty())
    return absl::FailedPreconditionError(
        "launch.device: this machine has no AVX2, the lowest instruction set of the CPU kernels");
  switch (choice) {
  case InstructionSetChoice::Auto:
    return supported.back();
  case InstructionSetChoice::Avx2:
    return cpu::InstructionSet::AVX2;
  case InstructionSetChoice::Avx512:
    return cpu::InstructionSet::AVX512;
  case InstructionSetChoice::Avx512Bf16:
    return cpu::InstructionSet::AVX512_BF16;
  case InstructionSetChoice::AmxBf16:
    return cpu::InstructionSet::AMX_BF16;
  }
  return supported.back();
}

absl::StatusOr<Target> openTarget(const Config &config) {
  const LaunchConfig &launch = config.launch;
  absl::StatusOr<cpu::InstructionSet> set = chooseInstructionSet(launch.instructionSet);
  if (!set.ok())
    return set.status();
  if (absl::Status status = cpu::useInstructionSet(*set); !status.ok())
    return status;
  return Target{std::string(cpu::name(*set))};
}

} // namespace weft
