#include "compiler/codegen/KernelWalk.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <bit>

namespace weft {

bool KernelWalk::isScalar(size_t operand) const {
  const std::vector<int64_t> &steps = strides[operand];
  return std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 0; });
}

KernelWalk walkOf(const ElementwiseProgram &program) {
  KernelWalk walk;
  walk.strides.resize(program.operandStrides.size());
  for (size_t dim = 0; dim < program.shape.size(); ++dim) {
    const int64_t size = program.shape[dim];
    if (size == 1)
      continue;
    // Rows that are reduced stay rows.
    bool merges = !walk.sizes.empty() && !(program.hasReductions() && dim + 1 == program.shape.size());
    for (size_t operand = 0; operand < walk.strides.size() && merges; ++operand)
      merges = walk.strides[operand].back() == size * program.operandStrides[operand][dim];
    if (merges)
      walk.sizes.back() *= size;
    else
      walk.sizes.push_back(size);
    for (size_t operand = 0; operand < walk.strides.size(); ++operand) {
      const int64_t stride = program.operandStrides[operand][dim];
      if (merges)
        walk.strides[operand].back() = stride;
      else
        walk.strides[operand].push_back(stride);
    }
  }
  if (program.hasReductions() && walk.sizes.size() == 1) { // one row
    walk.sizes.insert(walk.sizes.begin(), 1);
    for (std::vector<int64_t> &strides : walk.strides)
      strides.insert(strides.begin(), 0);
  }
  if (walk.sizes.empty()) {
    walk.sizes.push_back(1);
    for (std::vector<int64_t> &strides : walk.strides)
      strides.push_back(0);
  }
  return walk;
}

std::string structureOf(const ElementwiseProgram &program, const KernelWalk &walk) {
  std::string key;
  for (DType type : program.registerTypes)
    absl::StrAppend(&key, static_cast<int>(type), " ");
  for (const std::vector<int64_t> &strides : walk.strides)
    absl::StrAppend(&key, "/", absl::StrJoin(strides, ","));
  // How many of the outermost there are is not in the code.
  absl::StrAppend(&key, ":", absl::StrJoin(walk.sizes.begin() + 1, walk.sizes.end(), ","));
  for (const ElementwiseConstant &constant : program.constants)
    absl::StrAppend(&key, "=", std::bit_cast<uint64_t>(constant.value));
  for (const ElementwiseInstruction &instruction : program.instructions)
    absl::StrAppend(&key, ";", static_cast<int>(instruction.op), " ",
                    absl::StrJoin(instruction.sources, ","));
  for (size_t output = 0; output < program.outputs.size(); ++output)
    absl::StrAppend(&key, program.outputIsRow[output] ? "-" : ">", program.outputs[output]);
  return key;
}

} // namespace weft
