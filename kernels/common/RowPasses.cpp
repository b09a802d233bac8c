#include "kernels/common/RowPasses.h"

#include <algorithm>

namespace weft {

std::vector<bool> repeatedInRows(const ElementwiseProgram &program) {
  std::vector<bool> isRepeated;
  for (const std::vector<int64_t> &strides : program.operandStrides)
    isRepeated.push_back(strides.empty() || strides.back() == 0);
  isRepeated.resize(isRepeated.size() + program.constants.size(), true);
  for (const ElementwiseInstruction &instruction : program.instructions)
    isRepeated.push_back(
        isReduction(instruction.op) ||
        std::all_of(instruction.sources.begin(), instruction.sources.end(),
                    [&](int32_t source) { return source < 0 || isRepeated[static_cast<size_t>(source)]; }));
  return isRepeated;
}

namespace {
/// How many reductions one after the other a register stands behind.
std::vector<int32_t> depthsOf(const ElementwiseProgram &program) {
  std::vector<int32_t> depths(static_cast<size_t>(program.firstInstruction()), 0);
  for (const ElementwiseInstruction &instruction : program.instructions) {
    int32_t depth = 0;
    for (int32_t source : instruction.sources)
      if (source >= 0)
        depth = std::max(depth, depths[static_cast<size_t>(source)]);
    depths.push_back(isReduction(instruction.op) ? depth + 1 : depth);
  }
  return depths;
}
} // namespace

RowPasses rowPassesOf(const ElementwiseProgram &program, const std::vector<bool> &keeps) {
  RowPasses plan;
  plan.isRepeated = repeatedInRows(program);
  const std::vector<int32_t> depths = depthsOf(program);
  const int32_t first = program.firstInstruction();
  const auto count = static_cast<int32_t>(program.instructions.size());
  auto instruction = [&](int32_t index) -> const ElementwiseInstruction & {
    return program.instructions[static_cast<size_t>(index)];
  };
  auto depthOf = [&](int32_t reg) { return depths[static_cast<size_t>(reg)]; };
  int32_t last = 0;
  for (int32_t index = 0; index < count; ++index)
    if (isReduction(instruction(index).op))
      last = std::max(last, depthOf(first + index) - 1);
  for (size_t output = 0; output < program.outputs.size(); ++output)
    if (!program.outputIsRow[output])
      last = std::max(last, depthOf(program.outputs[output]));

  plan.passes.resize(static_cast<size_t>(last) + 1);
  std::vector<bool> isKept(static_cast<size_t>(count), false); // computed in an earlier pass, and kept
  for (int32_t pass = 0; pass <= last; ++pass) {
    RowPasses::Pass &now = plan.passes[static_cast<size_t>(pass)];
    std::vector<bool> needed(program.registerTypes.size(), false);
    if (pass == last)
      for (size_t output = 0; output < program.outputs.size(); ++output)
        if (!program.outputIsRow[output])
          needed[static_cast<size_t>(program.outputs[output])] = true;
    for (int32_t index = 0; index < count; ++index)
      if (isReduction(instruction(index).op) && depthOf(first + index) == pass + 1) {
        now.reductions.push_back(index);
        needed[static_cast<size_t>(instruction(index).sources[0])] = true;
      }
    for (int32_t index = count; index-- > 0;) {
      const auto reg = static_cast<size_t>(first) + static_cast<size_t>(index);
      if (!needed[reg] || plan.isRepeated[reg])
        continue;
      if (isKept[static_cast<size_t>(index)]) {
        now.kept.push_back(index);
        continue;
      }
      now.instructions.push_back(index);
      for (int32_t source : instruction(index).sources)
        if (source >= 0)
          needed[static_cast<size_t>(source)] = true;
    }
    std::reverse(now.kept.begin(), now.kept.end());
    std::reverse(now.instructions.begin(), now.instructions.end());
    if (!keeps.empty())
      for (int32_t index : now.instructions)
        isKept[static_cast<size_t>(index)] = keeps[static_cast<size_t>(index)];
  }
  for (int32_t index = 0; index < count; ++index) {
    const int32_t reg = first + index;
    if (!plan.isRepeated[static_cast<size_t>(reg)] || isReduction(instruction(index).op))
      continue;
    const auto depth = static_cast<size_t>(depthOf(reg));
    (depth < plan.passes.size() ? plan.passes[depth].rowInstructions : plan.rowInstructionsAtEnd)
        .push_back(index);
  }
  return plan;
}

} // namespace weft
