//===- ElementwiseRows.cpp - Programs with reductions, row by row ---------===//
//
// A row is read once for each pass (kernels/common/RowPasses.h), block by block, and every pass computes what
// it needs again: nothing of a row is kept but its reductions and what is made of them. So rows may be of any
// length. The order of a reduction is that of Reduce.cpp, by the same loops.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/RowPasses.h"
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/Accumulate.h"
#include "kernels/cpu/ElementwiseLoops.h"
#include "kernels/cpu/Registry.h"
#include "kernels/cpu/Strides.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

namespace weft::cpu {
namespace {

constexpr int64_t kStackBytes = 96 * 1024; ///< the registers of one block, at most
constexpr int64_t kMostBlock = 512;        ///< elements; blocks are multiples of kReductionLanes
constexpr int64_t kTileElements = 16 * 1024;
constexpr int64_t kMostRegisters = kStackBytes / 8 / kReductionLanes;
constexpr size_t kMostReductions = 16; ///< of one pass
constexpr size_t kLaneBytes = kReductionLanes * 8;

struct OperandLoad {
  LoadLoop load = nullptr;
  int64_t bytes = 0, stride = 0;            ///< of an element; along the row
  std::vector<StridedDimension> dimensions; ///< of the rows
};

struct Reduction {
  ElementwiseLoop widen = nullptr, round = nullptr; ///< to the type of the accumulators, and to the result's
  AccumulateLoop accumulate = nullptr;
  FoldLoop fold = nullptr;
  int64_t bytes = 4;                    ///< of an accumulator
  alignas(8) std::byte neutral[8] = {}; ///< an accumulator before the first value
};

class RowsKernel final : public Kernel {
public:
  absl::Status prepare(const KernelCall &call, ElementwiseProgram parsed);
  void run(const KernelArguments &arguments, ThreadPool &threads) const override;
  bool mayAlias(int operand, int result) const override {
    return aliases[static_cast<size_t>(operand) * program.outputs.size() + static_cast<size_t>(result)];
  }

private:
  /// What one thread has of the row it is at.
  struct Row {
    const KernelArguments &arguments;
    int64_t index;
    std::byte *stack;
    const std::byte *operands[kMostRegisters]; ///< where the row of each operand begins
    void *at(const RowsKernel &kernel, int32_t reg) const { return stack + reg * kernel.slotBytes; }
  };

  void describeReductions();
  void findAliases(const KernelCall &call);
  void beginRow(Row &row) const;
  void runPass(const Row &row, const RowPasses::Pass &pass, bool isLast) const;
  void runInstruction(const Row &row, int32_t index, int64_t count) const;
  void repeatInstruction(const Row &row, int32_t index) const;
  void repeat(const Row &row, int32_t reg) const;
  void finish(const Row &row, int32_t index, std::byte *lanes) const;

  ElementwiseProgram program;
  RowPasses plan;
  int64_t rows = 0, width = 0, block = kMostBlock, slotBytes = 0;
  std::vector<OperandLoad> operands;
  std::vector<uint64_t> constants; ///< as registers hold them
  std::vector<ElementwiseLoop> loops;
  std::vector<Reduction> reductions; ///< one for each instruction, empty for those that are none
  std::vector<StoreLoop> stores;
  std::vector<int64_t> resultBytes;
  std::vector<bool> aliases;
};

LoadLoop repeatLoop(DType type) {
  return findLoadLoop(registerByteSize(type) == 8 ? DType::I64 : DType::I32);
}

absl::Status RowsKernel::prepare(const KernelCall &call, ElementwiseProgram parsed) {
  program = std::move(parsed);
  const auto registers = static_cast<int64_t>(program.registerTypes.size());
  if (registers > kMostRegisters) // before passes are planned, which takes the square of them
    return absl::InvalidArgumentError(absl::StrCat("kernel elementwise: ", registers,
                                                   " registers with reductions; split the program, ",
                                                   kMostRegisters, " are the most"));
  plan = rowPassesOf(program);
  width = program.shape.back();
  rows = TensorType{DType::I1, program.shape}.elements() / width;
  const std::vector<int64_t> rowShape(program.shape.begin(), program.shape.end() - 1);
  for (size_t i = 0; i < program.operandStrides.size(); ++i) {
    const std::vector<int64_t> &strides = program.operandStrides[i];
    DType type = program.registerTypes[i];
    operands.push_back({findLoadLoop(type), byteSize(type), strides.back(),
                        mergeDimensions(rowShape, {strides.begin(), strides.end() - 1})});
  }
  for (const ElementwiseConstant &constant : program.constants) {
    uint64_t value = 0;
    findInstructionLoop(ElementwiseOp::Cast, constant.type, DType::F64)(&value, &constant.value, nullptr,
                                                                        nullptr, 1);
    constants.push_back(value);
  }
  for (const ElementwiseInstruction &instruction : program.instructions) {
    DType last = DType::F32;
    for (int32_t source : instruction.sources)
      if (source >= 0)
        last = program.registerTypes[static_cast<size_t>(source)];
    loops.push_back(
        isReduction(instruction.op) ? nullptr : findInstructionLoop(instruction.op, instruction.type, last));
  }
  describeReductions();
  for (const TensorType &result : call.results) {
    stores.push_back(findStoreLoop(result.dtype));
    resultBytes.push_back(byteSize(result.dtype));
  }
  for (const RowPasses::Pass &pass : plan.passes)
    if (pass.reductions.size() > kMostReductions)
      return absl::InvalidArgumentError(absl::StrCat("kernel elementwise: ", pass.reductions.size(),
                                                     " reductions at once; split the program, ",
                                                     kMostReductions, " are the most"));
  block = std::min(kStackBytes / (registers * 8) / kReductionLanes * kReductionLanes, kMostBlock);
  slotBytes = block * 8;
  findAliases(call);
  return absl::OkStatus();
}

void RowsKernel::describeReductions() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const ElementwiseInstruction &instruction : program.instructions) {
    Reduction &reduction = reductions.emplace_back();
    if (!isReduction(instruction.op))
      continue;
    const DType source = program.registerTypes[static_cast<size_t>(instruction.sources[0])];
    const DType type = accumulationType(source, instruction.type);
    const Combination combination = instruction.op == ElementwiseOp::ReduceSum       ? Combination::Sum
                                    : instruction.op == ElementwiseOp::ReduceMaximum ? Combination::Maximum
                                                                                     : Combination::Minimum;
    reduction.widen = findInstructionLoop(ElementwiseOp::Cast, type, source);
    reduction.round = findInstructionLoop(ElementwiseOp::Cast, instruction.type, type);
    reduction.accumulate = findAccumulateLoop(combination, type);
    reduction.fold = findFoldLoop(combination, type);
    reduction.bytes = registerByteSize(type);
    const double neutral = combination == Combination::Sum       ? 0
                           : combination == Combination::Maximum ? -kInfinity
                                                                 : kInfinity;
    findInstructionLoop(ElementwiseOp::Cast, type, DType::F64)(reduction.neutral, &neutral, nullptr, nullptr,
                                                               1);
  }
}

/// A result of the whole shape is written in the last pass, block by block behind the operands' reads.
void RowsKernel::findAliases(const KernelCall &call) {
  for (size_t operand = 0; operand < operands.size(); ++operand) {
    auto merged = mergeDimensions(program.shape, program.operandStrides[operand]);
    const bool isDense = merged.size() == 1 && merged[0].stride == 1;
    for (size_t result = 0; result < call.results.size(); ++result)
      aliases.push_back(isDense && !program.outputIsRow[result] &&
                        call.operands[operand].elements() == rows * width &&
                        call.operands[operand].dtype == call.results[result].dtype);
  }
}

/// The first element of a register, in all of the block.
void RowsKernel::repeat(const Row &row, int32_t reg) const {
  uint64_t one = 0;
  const DType type = program.registerTypes[static_cast<size_t>(reg)];
  std::memcpy(&one, row.at(*this, reg), static_cast<size_t>(registerByteSize(type)));
  repeatLoop(type)(row.at(*this, reg), &one, 0, block);
}

void RowsKernel::runInstruction(const Row &row, int32_t index, int64_t count) const {
  const ElementwiseInstruction &instruction = program.instructions[static_cast<size_t>(index)];
  auto source = [&](size_t i) {
    return instruction.sources[i] < 0 ? nullptr : row.at(*this, instruction.sources[i]);
  };
  loops[static_cast<size_t>(index)](row.at(*this, program.firstInstruction() + index), source(0), source(1),
                                    source(2), count);
}

void RowsKernel::repeatInstruction(const Row &row, int32_t index) const {
  runInstruction(row, index, 1);
  repeat(row, program.firstInstruction() + index);
}

/// Finds the operands' rows, and brings in what does not change along them.
void RowsKernel::beginRow(Row &row) const {
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandLoad &operand = operands[i];
    int64_t rest = row.index, offset = 0;
    for (size_t dim = operand.dimensions.size(); dim-- > 0; rest /= operand.dimensions[dim].size)
      offset += rest % operand.dimensions[dim].size * operand.dimensions[dim].stride;
    row.operands[i] = static_cast<const std::byte *>(row.arguments.operands[i]) + offset * operand.bytes;
    if (plan.isRepeated[i])
      operand.load(row.at(*this, static_cast<int32_t>(i)), row.operands[i], 0, block);
  }
}

/// The reduction of lanes that have met all elements of the row.
void RowsKernel::finish(const Row &row, int32_t index, std::byte *lanes) const {
  const Reduction &reduction = reductions[static_cast<size_t>(index)];
  const int32_t reg = program.firstInstruction() + index;
  reduction.fold(lanes, std::min(width, kReductionLanes));
  reduction.round(row.at(*this, reg), lanes, nullptr, nullptr, 1);
  repeat(row, reg);
}

void RowsKernel::runPass(const Row &row, const RowPasses::Pass &pass, bool isLast) const {
  for (int32_t index : pass.rowInstructions)
    repeatInstruction(row, index);
  const int64_t lanesInUse = std::min(width, kReductionLanes);
  alignas(64) std::byte lanes[kMostReductions * kLaneBytes];
  for (size_t i = 0; i < pass.reductions.size(); ++i) {
    const Reduction &reduction = reductions[static_cast<size_t>(pass.reductions[i])];
    for (int64_t lane = 0; lane < lanesInUse; ++lane)
      std::memcpy(lanes + i * kLaneBytes + static_cast<size_t>(lane * reduction.bytes), reduction.neutral,
                  static_cast<size_t>(reduction.bytes));
  }
  alignas(64) std::byte widened[kMostBlock * 8];
  for (int64_t begin = 0; begin < width; begin += block) {
    const int64_t count = std::min(block, width - begin);
    for (size_t i = 0; i < operands.size(); ++i)
      if (!plan.isRepeated[i])
        operands[i].load(row.at(*this, static_cast<int32_t>(i)),
                         row.operands[i] + begin * operands[i].stride * operands[i].bytes, operands[i].stride,
                         count);
    for (int32_t index : pass.instructions)
      runInstruction(row, index, count);
    for (size_t i = 0; i < pass.reductions.size(); ++i) {
      const auto index = static_cast<size_t>(pass.reductions[i]);
      const Reduction &reduction = reductions[index];
      reduction.widen(widened, row.at(*this, program.instructions[index].sources[0]), nullptr, nullptr,
                      count);
      for (int64_t part = 0; part < count; part += lanesInUse)
        reduction.accumulate(lanes + i * kLaneBytes, widened + part * reduction.bytes,
                             std::min(lanesInUse, count - part));
    }
    if (!isLast)
      continue;
    for (size_t i = 0; i < program.outputs.size(); ++i)
      if (!program.outputIsRow[i])
        stores[i](static_cast<std::byte *>(row.arguments.results[i]) +
                      (row.index * width + begin) * resultBytes[i],
                  row.at(*this, program.outputs[i]), count);
  }
  for (size_t i = 0; i < pass.reductions.size(); ++i)
    finish(row, pass.reductions[i], lanes + i * kLaneBytes);
}

void RowsKernel::run(const KernelArguments &arguments, ThreadPool &threads) const {
  const int64_t rowsOfTile = std::max<int64_t>(kTileElements / width, 1);
  threads.forEachTile((rows + rowsOfTile - 1) / rowsOfTile, [&](int64_t tile, int) {
    alignas(64) std::byte stack[kStackBytes];
    Row row{arguments, 0, stack, {}};
    for (size_t i = 0; i < constants.size(); ++i) {
      const auto reg = static_cast<int32_t>(operands.size() + i);
      repeatLoop(program.registerTypes[static_cast<size_t>(reg)])(row.at(*this, reg), &constants[i], 0,
                                                                  block);
    }
    const int64_t end = std::min(rows, (tile + 1) * rowsOfTile);
    for (row.index = tile * rowsOfTile; row.index < end; ++row.index) {
      beginRow(row);
      for (size_t pass = 0; pass < plan.passes.size(); ++pass)
        runPass(row, plan.passes[pass], pass + 1 == plan.passes.size());
      for (int32_t index : plan.rowInstructionsAtEnd)
        repeatInstruction(row, index);
      for (size_t i = 0; i < program.outputs.size(); ++i)
        if (program.outputIsRow[i])
          stores[i](static_cast<std::byte *>(arguments.results[i]) + row.index * resultBytes[i],
                    row.at(*this, program.outputs[i]), 1);
    }
  });
}

} // namespace

KernelOrError createElementwiseRows(const KernelCall &call, ElementwiseProgram program) {
  auto kernel = std::make_unique<RowsKernel>();
  if (absl::Status status = kernel->prepare(call, std::move(program)); !status.ok())
    return status;
  return kernel;
}

} // namespace weft::cpu
