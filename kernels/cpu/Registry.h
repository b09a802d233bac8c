//===- Registry.h - The table of CPU kernels ------------------------------===//
//
// Every kernel of docs/kernels.md has one factory here. A factory checks its call against the kernel's
// signature (InvalidArgument says what does not fit) and decides all that run() must not: strides, tiles,
// workspace offsets. createKernel() has checked before that every shape is a shape (sizes not negative, fewer
// than 2^48 elements).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_REGISTRY_H
#define WEFT_KERNELS_CPU_REGISTRY_H

#include "kernels/common/ElementwiseOps.h"
#include "kernels/cpu/Cpu.h"

#include <optional>
#include <span>

namespace weft::cpu {

using KernelOrError = absl::StatusOr<std::unique_ptr<Kernel>>;
using KernelFactory = KernelOrError (*)(const KernelCall &call);

struct KernelRow {
  std::string_view name;
  KernelFactory create;
};

/// All kernels, in the order of docs/kernels.md.
std::span<const KernelRow> kernelTable();

/// What useInstructionSet() decided; nothing before it was called.
std::optional<InstructionSet> instructionSetInUse();

KernelOrError createElementwise(const KernelCall &call);
KernelOrError createElementwiseRows(const KernelCall &call, ElementwiseProgram program); ///< with reductions
KernelOrError createGenerated(const KernelCall &call, GeneratedFunction &function);
KernelOrError createEinsum(const KernelCall &call);
KernelOrError createReduce(const KernelCall &call);
KernelOrError createCumulativeSum(const KernelCall &call);
KernelOrError createTopK(const KernelCall &call);
KernelOrError createTranspose(const KernelCall &call);
KernelOrError createBroadcast(const KernelCall &call);
KernelOrError createSlice(const KernelCall &call);
KernelOrError createUpdateSlice(const KernelCall &call);
KernelOrError createConcatenate(const KernelCall &call);
KernelOrError createPad(const KernelCall &call);
KernelOrError createGather(const KernelCall &call);
KernelOrError createScatterAdd(const KernelCall &call);
KernelOrError createIota(const KernelCall &call);
KernelOrError createRandomUniform(const KernelCall &call);
KernelOrError createCopy(const KernelCall &call);
KernelOrError createRmsNorm(const KernelCall &call);
KernelOrError createRmsNormBackward(const KernelCall &call);
KernelOrError createLayerNorm(const KernelCall &call);
KernelOrError createLayerNormBackward(const KernelCall &call);
KernelOrError createRope(const KernelCall &call);
KernelOrError createAttention(const KernelCall &call);
KernelOrError createAttentionBackward(const KernelCall &call);
KernelOrError createAttentionMerge(const KernelCall &call);
KernelOrError createLinearCrossEntropy(const KernelCall &call);
KernelOrError createLinearCrossEntropyStatistics(const KernelCall &call);
KernelOrError createLinearCrossEntropyBackward(const KernelCall &call);
KernelOrError createLinearCrossEntropyForwardBackward(const KernelCall &call);
KernelOrError createSquaredNorm(const KernelCall &call);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_REGISTRY_H
