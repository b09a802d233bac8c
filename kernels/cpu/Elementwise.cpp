//===- Elementwise.cpp - Element-wise programs, block by block ------------===//
//
// The iteration space is a line of elements, cut into tiles for the threads and each tile into blocks. A
// block's registers live on the stack of the thread, in the level-1 cache: operands are read once from
// memory, each instruction is one loop over the block, results are written once at its end. So a result may
// lie where an operand lay.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/ElementwiseLoops.h"
#include "kernels/cpu/Registry.h"
#include "kernels/cpu/Strides.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace weft::cpu {
namespace {

constexpr int64_t kStackBytes = 64 * 1024; ///< the registers of one block, at most
constexpr int64_t kCacheBytes = 28 * 1024; ///< what they should take, for the level-1 cache
constexpr int64_t kMostBlock = 1024, kLeastBlock = 64;
constexpr int64_t kTileElements = 16 * 1024;
constexpr size_t kMostRegisters = 1024;

/// How an operand comes into a register.
struct OperandLoad {
  bool used = false;
  bool inPlace = false;                     ///< memory serves as the register
  bool isScalar = false;                    ///< one element for the whole space
  int64_t bytes = 0;                        ///< of a stored element
  std::vector<StridedDimension> dimensions; ///< merged, outermost first
  LoadLoop load = nullptr;
};

/// A constant as its register holds it: the bytes, and the loop that repeats them.
struct ConstantLoad {
  uint64_t value = 0;
  LoadLoop load = nullptr;
};

struct Step {
  ElementwiseLoop loop = nullptr; ///< null: load operand `result`
  int32_t result = -1;
  std::array<int32_t, 3> sources = {-1, -1, -1};
};

/// Copies `count` elements from position `begin` of the space into a register, run by run of the innermost
/// dimension.
void loadOperand(const OperandLoad &operand, const std::byte *base, int64_t begin, int64_t count,
                 std::byte *out, int64_t registerBytes) {
  const auto &dimensions = operand.dimensions;
  const StridedDimension &inner = dimensions.back();
  while (count > 0) {
    int64_t within = begin % inner.size, rest = begin / inner.size, offset = within * inner.stride;
    for (size_t dim = dimensions.size() - 1; dim-- > 0; rest /= dimensions[dim].size)
      offset += rest % dimensions[dim].size * dimensions[dim].stride;
    int64_t run = std::min(count, inner.size - within);
    operand.load(out, base + offset * operand.bytes, inner.stride, run);
    out += run * registerBytes;
    begin += run;
    count -= run;
  }
}

class ElementwiseKernel final : public Kernel {
public:
  absl::Status prepare(const KernelCall &call, ElementwiseProgram parsed);
  void run(const KernelArguments &arguments, ThreadPool &threads) const override;
  bool mayAlias(int operand, int result) const override {
    return aliases[static_cast<size_t>(operand) * program.outputs.size() + static_cast<size_t>(result)];
  }

private:
  void describeOperands();
  absl::Status placeRegisters();
  void findAliases(const KernelCall &call);
  void runTile(const KernelArguments &arguments, int64_t begin, int64_t end) const;
  void loadConstants(const KernelArguments &arguments, std::byte *stack) const;

  ElementwiseProgram program;
  int64_t elements = 0, block = kMostBlock, slotBytes = 0;
  std::vector<OperandLoad> operands;
  std::vector<ConstantLoad> constantLoads;
  std::vector<Step> steps;
  std::vector<int32_t> slots; ///< of each register on the stack; -1: in place, or unused
  std::vector<StoreLoop> stores;
  std::vector<int64_t> resultBytes;
  std::vector<bool> aliases;
};

absl::Status ElementwiseKernel::prepare(const KernelCall &call, ElementwiseProgram parsed) {
  program = std::move(parsed);
  if (program.registerTypes.size() > kMostRegisters)
    return absl::InvalidArgumentError(absl::StrCat("kernel elementwise: ", program.registerTypes.size(),
                                                   " registers; split the program, ", kMostRegisters,
                                                   " are the most"));
  elements = TensorType{DType::I1, program.shape}.elements();
  describeOperands();
  for (const ElementwiseConstant &constant : program.constants) {
    ConstantLoad load;
    findInstructionLoop(ElementwiseOp::Cast, constant.type, DType::F64)(&load.value, &constant.value, nullptr,
                                                                        nullptr, 1);
    load.load = findLoadLoop(registerByteSize(constant.type) == 8 ? DType::I64 : DType::I32);
    constantLoads.push_back(load);
  }
  if (absl::Status status = placeRegisters(); !status.ok())
    return status;
  for (const TensorType &result : call.results) {
    stores.push_back(findStoreLoop(result.dtype));
    resultBytes.push_back(byteSize(result.dtype));
  }
  findAliases(call);
  return absl::OkStatus();
}

void ElementwiseKernel::describeOperands() {
  operands.resize(program.operandStrides.size());
  for (const ElementwiseInstruction &instruction : program.instructions)
    for (int32_t source : instruction.sources)
      if (source >= 0 && source < static_cast<int32_t>(operands.size()))
        operands[static_cast<size_t>(source)].used = true;
  std::vector<bool> stored(operands.size());
  for (int32_t output : program.outputs)
    if (output < static_cast<int32_t>(operands.size()))
      operands[static_cast<size_t>(output)].used = stored[static_cast<size_t>(output)] = true;
  for (size_t i = 0; i < operands.size(); ++i) {
    OperandLoad &operand = operands[i];
    DType type = program.registerTypes[i];
    operand.bytes = byteSize(type);
    operand.dimensions = mergeDimensions(program.shape, program.operandStrides[i]);
    operand.load = findLoadLoop(type);
    operand.isScalar = operand.dimensions.size() == 1 && operand.dimensions[0].stride == 0;
    bool dense = operand.dimensions.size() == 1 && operand.dimensions[0].stride == 1;
    // An operand that is also stored is copied, since the results before it may overwrite it in place.
    operand.inPlace = dense && isStoredAsRegister(type) && !stored[i];
  }
}

/// Gives each register a slot of the stack, reused after its last use, and lists the steps of a block.
/// Scalars and constants are loaded once a tile and keep theirs. A step's result never shares a slot with its
/// sources.
absl::Status ElementwiseKernel::placeRegisters() {
  const size_t registers = program.registerTypes.size();
  const int32_t first = program.firstInstruction();
  std::vector<size_t> lastUse(registers, 0);
  for (size_t i = 0; i < program.instructions.size(); ++i)
    for (int32_t source : program.instructions[i].sources)
      if (source >= 0)
        lastUse[static_cast<size_t>(source)] = i;
  for (int32_t output : program.outputs)
    lastUse[static_cast<size_t>(output)] = program.instructions.size();

  slots.assign(registers, -1);
  int32_t slotCount = 0;
  std::vector<int32_t> freeSlots;
  auto take = [&](int32_t reg) {
    int32_t &slot = slots[static_cast<size_t>(reg)];
    if (freeSlots.empty()) {
      slot = slotCount++;
    } else {
      slot = freeSlots.back();
      freeSlots.pop_back();
    }
  };
  auto isPersistent = [&](int32_t reg) {
    return reg < first &&
           (reg >= static_cast<int32_t>(operands.size()) || operands[static_cast<size_t>(reg)].isScalar);
  };
  for (int32_t reg = 0; reg < first; ++reg)
    if (isPersistent(reg))
      slots[static_cast<size_t>(reg)] = slotCount++;
  auto loadBeforeUse = [&](int32_t reg) {
    if (reg >= static_cast<int32_t>(operands.size()) || slots[static_cast<size_t>(reg)] >= 0 ||
        operands[static_cast<size_t>(reg)].inPlace)
      return;
    take(reg);
    steps.push_back({nullptr, reg, {-1, -1, -1}});
  };
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const ElementwiseInstruction &instruction = program.instructions[i];
    DType lastType = DType::F32;
    for (int32_t source : instruction.sources)
      if (source >= 0) {
        loadBeforeUse(source);
        lastType = program.registerTypes[static_cast<size_t>(source)];
      }
    int32_t result = first + static_cast<int32_t>(i);
    take(result);
    steps.push_back(
        {findInstructionLoop(instruction.op, instruction.type, lastType), result, instruction.sources});
    auto release = [&](int32_t reg) {
      if (reg >= 0 && !isPersistent(reg) && lastUse[static_cast<size_t>(reg)] <= i &&
          slots[static_cast<size_t>(reg)] >= 0 &&
          std::find(freeSlots.begin(), freeSlots.end(), slots[static_cast<size_t>(reg)]) == freeSlots.end())
        freeSlots.push_back(slots[static_cast<size_t>(reg)]);
    };
    for (int32_t source : instruction.sources)
      release(source);
    release(result);
  }
  for (int32_t output : program.outputs)
    loadBeforeUse(output);

  int64_t widest = 4;
  for (DType type : program.registerTypes)
    widest = std::max(widest, registerByteSize(type));
  int64_t live = std::max(slotCount, 1) * widest;
  block = std::clamp(kCacheBytes / live / kLeastBlock * kLeastBlock, kLeastBlock, kMostBlock);
  while (block * live > kStackBytes)
    block /= 2;
  if (block < 8)
    return absl::InvalidArgumentError(
        absl::StrCat("kernel elementwise: ", slotCount, " registers are alive at once; split the program"));
  slotBytes = block * widest;
  return absl::OkStatus();
}

void ElementwiseKernel::findAliases(const KernelCall &call) {
  for (size_t operand = 0; operand < operands.size(); ++operand)
    for (const TensorType &result : call.results) {
      const auto &dimensions = operands[operand].dimensions;
      bool dense = dimensions.size() == 1 && (dimensions[0].stride == 1 || elements == 1);
      aliases.push_back(dense && call.operands[operand].elements() == elements &&
                        call.operands[operand].dtype == result.dtype);
    }
}

void ElementwiseKernel::loadConstants(const KernelArguments &arguments, std::byte *stack) const {
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].used && operands[i].isScalar)
      operands[i].load(stack + slots[i] * slotBytes, arguments.operands[i], 0, block);
  for (size_t i = 0; i < constantLoads.size(); ++i)
    constantLoads[i].load(stack + slots[operands.size() + i] * slotBytes, &constantLoads[i].value, 0, block);
}

void ElementwiseKernel::runTile(const KernelArguments &arguments, int64_t begin, int64_t end) const {
  alignas(64) std::byte stack[kStackBytes];
  void *registers[kMostRegisters];
  for (size_t reg = 0; reg < slots.size(); ++reg)
    registers[reg] = slots[reg] < 0 ? nullptr : stack + slots[reg] * slotBytes;
  loadConstants(arguments, stack);
  auto source = [&](int32_t reg) { return reg < 0 ? nullptr : registers[reg]; };
  for (int64_t at = begin; at < end; at += block) {
    int64_t count = std::min(block, end - at);
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].inPlace)
        registers[i] =
            static_cast<std::byte *>(const_cast<void *>(arguments.operands[i])) + at * operands[i].bytes;
    for (const Step &step : steps) {
      if (step.loop) {
        step.loop(registers[step.result], source(step.sources[0]), source(step.sources[1]),
                  source(step.sources[2]), count);
        continue;
      }
      const size_t operand = static_cast<size_t>(step.result);
      loadOperand(operands[operand], static_cast<const std::byte *>(arguments.operands[operand]), at, count,
                  static_cast<std::byte *>(registers[operand]),
                  registerByteSize(program.registerTypes[operand]));
    }
    for (size_t i = 0; i < program.outputs.size(); ++i)
      stores[i](static_cast<std::byte *>(arguments.results[i]) + at * resultBytes[i],
                registers[program.outputs[i]], count);
  }
}

void ElementwiseKernel::run(const KernelArguments &arguments, ThreadPool &threads) const {
  int64_t tiles = (elements + kTileElements - 1) / kTileElements;
  threads.forEachTile(tiles, [&](int64_t tile, int) {
    runTile(arguments, tile * kTileElements, std::min(elements, (tile + 1) * kTileElements));
  });
}

} // namespace

KernelOrError createElementwise(const KernelCall &call) {
  auto program = parseElementwise(call);
  if (!program.ok())
    return program.status();
  if (program->hasReductions())
    return createElementwiseRows(call, *std::move(program));
  auto kernel = std::make_unique<ElementwiseKernel>();
  if (absl::Status status = kernel->prepare(call, *std::move(program)); !status.ok())
    return status;
  return kernel;
}

} // namespace weft::cpu
