#include "tools/weft-compile/Target.h"

#include "kernels/cpu/Cpu.h"
#include "runtime/support/Processors.h"

#include <algorithm>
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

absl::StatusOr<Target> openTarget(const Config &config, int64_t threads) {
  const LaunchConfig &launch = config.launch;
  absl::StatusOr<cpu::InstructionSet> set = chooseInstructionSet(launch.instructionSet);
  if (!set.ok())
    return set.status();
  if (absl::Status status = cpu::useInstructionSet(*set); !status.ok())
    return status;
  const int64_t shared =
      threads > 0 ? threads : std::max<int64_t>(1, availableProcessors() / config.parallel.ranks());
  return Target{std::string(cpu::name(*set)), static_cast<uint32_t>(launch.threads.value_or(shared))};
}

} // namespace weft
