//===- Registry.cpp - From a kernel call to a kernel ----------------------===//
#include "kernels/cpu/Registry.h"

#include "absl/strings/str_cat.h"

namespace weft::cpu {
namespace {

constexpr KernelRow kTable[] = {
    {"elementwise", createElementwise},
    {"einsum", createEinsum},
    {"reduce", createReduce},
    {"cumulative_sum", createCumulativeSum},
    {"top_k", createTopK},
    {"transpose", createTranspose},
    {"broadcast", createBroadcast},
    {"slice", createSlice},
    {"update_slice", createUpdateSlice},
    {"concatenate", createConcatenate},
    {"pad", createPad},
    {"gather", createGather},
    {"scatter_add", createScatterAdd},
    {"iota", createIota},
    {"random_uniform", createRandomUniform},
    {"copy", createCopy},
    {"rms_norm", createRmsNorm},
    {"rms_norm_backward", createRmsNormBackward},
    {"layer_norm", createLayerNorm},
    {"layer_norm_backward", createLayerNormBackward},
    {"rope", createRope},
    {"attention", createAttention},
    {"attention_backward", createAttentionBackward},
    {"attention_merge", createAttentionMerge},
    {"linear_cross_entropy", createLinearCrossEntropy},
    {"linear_cross_entropy_statistics", createLinearCrossEntropyStatistics},
    {"linear_cross_entropy_backward", createLinearCrossEntropyBackward},
    {"linear_cross_entropy_forward_backward", createLinearCrossEntropyForwardBackward},
    {"squared_norm", createSquaredNorm},
};

const KernelRow *findRow(std::string_view name) {
  for (const KernelRow &row : kTable)
    if (row.name == name)
      return &row;
  return nullptr;
}

absl::Status checkShapes(const KernelCall &call, const std::vector<TensorType> &types, const char *side) {
  constexpr int64_t kMostElements = int64_t{1} << 48;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].dtype > DType::F64)
      return absl::InvalidArgumentError(
          absl::StrCat("kernel ", call.name, ": ", side, " ", i, " has an unknown element type"));
    int64_t room = kMostElements;
    for (int64_t size : types[i].shape) {
      if (size < 0 || size > room)
        return absl::InvalidArgumentError(
            absl::StrCat("kernel ", call.name, ": ", side, " ", i, " has the shape of ", types[i].str(),
                         ": sizes must not be negative, and at most ", "2^48 elements in all"));
      room /= std::max<int64_t>(size, 1);
    }
  }
  return absl::OkStatus();
}

} // namespace

std::span<const KernelRow> kernelTable() { return kTable; }

bool hasKernel(const KernelCall &call) { return findRow(call.name) != nullptr; }

bool takesCall(const KernelCall &call) {
  return instructionSetInUse() ? createKernel(call).ok() : hasKernel(call);
}

absl::StatusOr<std::unique_ptr<Kernel>> createKernel(const KernelCall &call, GeneratedFunction *function) {
  if (!instructionSetInUse())
    return absl::FailedPreconditionError("kernels were asked for before useInstructionSet()");
  const KernelRow *row = findRow(call.name);
  if (!row)
    return absl::InvalidArgumentError(absl::StrCat("the CPU has no kernel ", call.name));
  if (absl::Status status = checkShapes(call, call.operands, "operand"); !status.ok())
    return status;
  if (absl::Status status = checkShapes(call, call.results, "result"); !status.ok())
    return status;
  return function != nullptr ? createGenerated(call, *function) : row->create(call);
}

} // namespace weft::cpu
