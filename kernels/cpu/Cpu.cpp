//===- Cpu.cpp - The instruction set of this process ----------------------===//
//
// One choice serves Highway (which of the compiled targets its dispatch tables give) and oneDNN (the highest
// set that its code generator may use). Both choices are process-wide and must come before first use, so they
// are made once.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/Cpu.h"

#include "kernels/cpu/Registry.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hwy/targets.h"
#include "oneapi/dnnl/dnnl.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>

namespace weft::cpu {
namespace {

struct InstructionSetRow {
  InstructionSet set;
  std::string_view name;
  int64_t highwayTarget;
  dnnl_cpu_isa_t oneDnnSet;
};
constexpr std::array<InstructionSetRow, 4> kSets = {{
    {InstructionSet::AVX2, "avx2", HWY_AVX2, dnnl_cpu_isa_avx2},
    {InstructionSet::AVX512, "avx512", HWY_AVX3, dnnl_cpu_isa_avx512_core},
    {InstructionSet::AVX512_BF16, "avx512_bf16", HWY_AVX3, dnnl_cpu_isa_avx512_core_bf16},
    {InstructionSet::AMX_BF16, "amx_bf16", HWY_AVX3, dnnl_cpu_isa_avx512_core_amx},
}};

/// What Highway found on this machine before anything was disabled.
int64_t targetsOfMachine() {
  static const int64_t targets = hwy::SupportedTargets();
  return targets;
}

/// Tiles of bfloat16 and of bytes (oneDNN wants both), whose registers the system keeps for each thread.
bool hasTilesOfBf16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kBf16 = 1u << 22, kTiles = 1u << 24, kBytes = 1u << 25, kSavesRegisters = 1u << 27;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 ||
      (edx & (kBf16 | kTiles | kBytes)) != (kBf16 | kTiles | kBytes))
    return false;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kSavesRegisters) == 0)
    return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0)); // the register of saved states
  constexpr unsigned kTileStates = 3u << 17;
  if ((low & kTileStates) != kTileStates)
    return false;
  // Linux wants to be asked by the process, once for all of its threads, before it saves tiles.
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  static const bool permitted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return permitted;
}

bool runsHere(const InstructionSetRow &row) {
  if ((targetsOfMachine() & row.highwayTarget) == 0)
    return false;
  if (row.set == InstructionSet::AMX_BF16)
    return __builtin_cpu_supports("avx512bf16") && hasTilesOfBf16();
  return row.set != InstructionSet::AVX512_BF16 || __builtin_cpu_supports("avx512bf16");
}

std::mutex choiceMutex;
std::atomic<int> choice{-1};

} // namespace

std::string_view name(InstructionSet set) { return kSets[static_cast<size_t>(set)].name; }

std::vector<InstructionSet> supportedInstructionSets() {
  std::vector<InstructionSet> sets;
  for (const InstructionSetRow &row : kSets)
    if (runsHere(row))
      sets.push_back(row.set);
  return sets;
}

std::optional<InstructionSet> instructionSetInUse() {
  int chosen = choice.load();
  return chosen < 0 ? std::nullopt : std::optional(static_cast<InstructionSet>(chosen));
}

absl::Status useInstructionSet(InstructionSet set) {
  std::lock_guard<std::mutex> lock(choiceMutex);
  if (std::optional<InstructionSet> chosen = instructionSetInUse()) {
    if (*chosen == set)
      return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("this process runs ", std::string(name(*chosen)),
                                                      " kernels already; ", std::string(name(set)),
                                                      " needs a process of its own"));
  }
  const InstructionSetRow &row = kSets[static_cast<size_t>(set)];
  if (!runsHere(row)) {
    auto spell = [](std::string *out, InstructionSet found) { out->append(name(found)); };
    std::vector<InstructionSet> found = supportedInstructionSets();
    return absl::FailedPreconditionError(
        absl::StrCat("this machine does not run ", std::string(row.name), "; it runs ",
                     found.empty() ? "none of weft's instruction sets (avx2 is the lowest)"
                                   : absl::StrJoin(found, ", ", spell)));
  }
  if (dnnl_status_t status = dnnl_set_max_cpu_isa(row.oneDnnSet); status != dnnl_success)
    return absl::FailedPreconditionError(absl::StrCat("oneDNN refuses ", std::string(row.name), " (status ",
                                                      static_cast<int>(status),
                                                      "): it was used in this process before"));
  hwy::DisableTargets(~row.highwayTarget & (HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL) & (row.highwayTarget - 1));
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  choice.store(static_cast<int>(set));
  return absl::OkStatus();
}

absl::StatusOr<InstructionSet> useBestInstructionSet() {
  const std::vector<InstructionSet> sets = supportedInstructionSets();
  if (sets.empty())
    return absl::FailedPreconditionError("this machine has no instruction set that the CPU kernels know");
  if (absl::Status status = useInstructionSet(sets.back()); !status.ok())
    return status;
  return sets.back();
}

} // namespace weft::cpu
