//===- Cpu.h - The kernels of the CPU device ------------------------------===//
#ifndef WEFT_KERNELS_CPU_CPU_H
#define WEFT_KERNELS_CPU_CPU_H

#include "kernels/common/GeneratedKernel.h"
#include "kernels/common/Kernel.h"

#include "absl/status/statusor.h"

#include <memory>
#include <string_view>
#include <vector>

namespace weft::cpu {

/// Instruction sets that a program may be compiled for, from low to high. A process uses one, set once.
enum class InstructionSet : uint8_t { AVX2 = 0, AVX512 = 1, AVX512_BF16 = 2, AMX_BF16 = 3 };

std::string_view name(InstructionSet set);
/// Those that this machine runs, from low to high; empty when it has not even AVX2.
std::vector<InstructionSet> supportedInstructionSets();
/// Sets the instruction set of this process for our kernels and oneDNN alike. The first call decides; a later
/// call that asks for another set fails, as does one that this machine cannot run.
absl::Status useInstructionSet(InstructionSet set);
/// The highest that this machine runs, for programs that are compiled and run in this process.
absl::StatusOr<InstructionSet> useBestInstructionSet();

/// True when the CPU has a kernel of this name at all.
bool hasKernel(const KernelCall &call);
/// True when that kernel also takes these types and attributes. `fuse` asks it to choose between a kernel and
/// a decomposition. While no instruction set is in use the name alone decides.
bool takesCall(const KernelCall &call);

/// The kernel for a call under the instruction set in use. InvalidArgument when the operands or attributes do
/// not fit the kernel's signature (never an assert: calls are read from files). With `function` an
/// `elementwise` call runs as that function, without it by the interpreter of blocks: same bits, workspace
/// and aliases, so whoever plans need not know which.
absl::StatusOr<std::unique_ptr<Kernel>> createKernel(const KernelCall &call,
                                                     GeneratedFunction *function = nullptr);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_CPU_H
