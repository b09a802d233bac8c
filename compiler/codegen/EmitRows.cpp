//===- EmitRows.cpp - A program with reductions as a function --------------===//
//
// Row after row, each in the passes of kernels/common/RowPasses.h. A reduction's lanes are registers of the
// machine, 64 elements to a round of the loop, and fold by halves: the order of the `reduce` kernel. What
// takes many instructions and is needed in a later pass is kept on the stack for the row; what takes few is
// computed again from operands, which the first pass has brought into the cache.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/EmitKernel.h"
#include "compiler/codegen/KernelEmitter.h"
#include "kernels/common/RowPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace weft {
namespace {
/// What a row may keep on the stack of a thread, in bytes: half of a level-1 cache of the machines that
/// targets name, twice as much stays in the level-2 cache.
constexpr int64_t kMostKept = 64 * 1024;

/// Whether computing it again takes longer than storing and loading it.
bool isSlow(ElementwiseOp op) {
  switch (op) {
  case ElementwiseOp::Exp:
  case ElementwiseOp::Log:
  case ElementwiseOp::Tanh:
  case ElementwiseOp::Sigmoid:
  case ElementwiseOp::Sin:
  case ElementwiseOp::Cos:
  case ElementwiseOp::Erf:
  case ElementwiseOp::Power:
  case ElementwiseOp::Remainder:
  case ElementwiseOp::Divide:
  case ElementwiseOp::Sqrt:
  case ElementwiseOp::Rsqrt:
    return true;
  default:
    return false;
  }
}

class RowsEmitter : KernelEmitter {
public:
  using KernelEmitter::KernelEmitter;

  void emitFunction(llvm::StringRef symbol) {
    width = program.shape.back();
    chooseKept();
    Block *body = beginFunction(symbol);
    for (size_t index = 0; index < program.instructions.size(); ++index)
      if (isKept[index])
        keptRows[static_cast<int32_t>(index)] = rowOnStack(keptType(index));
    Value first = arith::DivUIOp::create(b, loc(), body->getArgument(2), integer(width));
    Value behind = arith::DivUIOp::create(b, loc(), body->getArgument(3), integer(width));
    auto loop = scf::ForOp::create(b, loc(), first, behind, integer(1));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(loop.getBody()->getTerminator());
      emitRow(loop.getInductionVar());
    }
    endFunction();
  }

private:
  const ElementwiseInstruction &instruction(int32_t index) const {
    return program.instructions[static_cast<size_t>(index)];
  }
  size_t registerOf(int32_t index) const {
    return static_cast<size_t>(program.firstInstruction()) + static_cast<size_t>(index);
  }
  VectorType keptType(size_t index) { return instructions.registerType(program.instructions[index].type); }

  /// Slow instructions that two passes need are kept, as long as there is room.
  void chooseKept() {
    std::vector<int32_t> uses(program.instructions.size(), 0);
    for (const RowPasses::Pass &pass : rowPassesOf(program).passes)
      for (int32_t index : pass.instructions)
        ++uses[static_cast<size_t>(index)];
    isKept.assign(program.instructions.size(), false);
    int64_t left = kMostKept;
    for (size_t index = 0; index < uses.size(); ++index) {
      const ElementwiseInstruction &one = program.instructions[index];
      const int64_t bytes = width * (one.type == DType::F64 || one.type == DType::I64 ? 8 : 4);
      if (uses[index] < 2 || !isSlow(one.op) || bytes > left)
        continue;
      isKept[index] = true;
      left -= bytes;
    }
    plan = rowPassesOf(program, isKept);
  }

  Value rowOnStack(VectorType type) {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    return LLVM::AllocaOp::create(b, loc(), pointer, type.getElementType(),
                                  integer((width + lanes - 1) / lanes * lanes), 64);
  }
  Value keptAt(int32_t index, Value at) {
    Value row = keptRows.lookup(index);
    return LLVM::GEPOp::create(b, loc(), row.getType(), keptType(static_cast<size_t>(index)).getElementType(),
                               row, ArrayRef<LLVM::GEPArg>{at});
  }

  void emitRow(Value row) {
    operandRows = operandRowsAt(row);
    resultRows.clear();
    Value start = multiply(row, width);
    for (size_t result = 0; result < program.outputs.size(); ++result)
      resultRows.push_back(resultAt(result, program.outputIsRow[result] ? row : start));
    rowRegisters.assign(program.registerTypes.size(), Value());
    for (size_t operand = 0; operand < walk.strides.size(); ++operand)
      if (isUsed[operand] && plan.isRepeated[operand])
        rowRegisters[operand] = scalars[operand] ? scalars[operand] : repeated(operand, operandRows[operand]);
    for (size_t index = 0; index < constants.size(); ++index)
      rowRegisters[walk.strides.size() + index] = constants[index];
    for (size_t index = 0; index < plan.passes.size(); ++index)
      emitPass(plan.passes[index], index + 1 == plan.passes.size());
    emitOnce(plan.rowInstructionsAtEnd);
    for (size_t result = 0; result < program.outputs.size(); ++result)
      if (program.outputIsRow[result])
        storeOne(result);
  }

  /// What has one value in the row: every lane computes it.
  void emitOnce(const std::vector<int32_t> &indices) {
    for (int32_t index : indices)
      rowRegisters[registerOf(index)] = emit(instruction(index), rowRegisters);
  }

  void storeOne(size_t result) {
    const auto reg = static_cast<size_t>(program.outputs[result]);
    Value stored = instructions.toStored(rowRegisters[reg], typeOf(reg));
    Value one = vector::ExtractOp::create(b, loc(), stored, int64_t{0});
    LLVM::StoreOp::create(b, loc(), one, resultRows[result], static_cast<unsigned>(byteSize(typeOf(reg))));
  }

  /// The type of a reduction's lanes.
  DType lanesType(int32_t index) const {
    const auto source = static_cast<size_t>(instruction(index).sources[0]);
    return accumulationType(typeOf(source), instruction(index).type);
  }
  Value neutralOf(int32_t index) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const ElementwiseOp op = instruction(index).op;
    const double value = op == ElementwiseOp::ReduceSum       ? 0
                         : op == ElementwiseOp::ReduceMaximum ? -kInfinity
                                                              : kInfinity;
    return instructions.constant({value, lanesType(index)});
  }
  Value combine(int32_t index, Value lane, Value value) {
    const ElementwiseOp op = instruction(index).op;
    const ElementwiseOp combination = op == ElementwiseOp::ReduceSum       ? ElementwiseOp::Add
                                      : op == ElementwiseOp::ReduceMaximum ? ElementwiseOp::Maximum
                                                                           : ElementwiseOp::Minimum;
    const DType type = lanesType(index);
    return instructions.emit({combination, type, {}}, {lane, value}, type);
  }

  void emitPass(const RowPasses::Pass &pass, bool isLast) {
    emitOnce(pass.rowInstructions);
    const int64_t vectors = pass.reductions.empty() ? 1 : kReductionLanes / lanes;
    const int64_t step = vectors * lanes, wholeEnd = width / step * step;
    SmallVector<Value> sums; // vectors of the first reduction, then those of the second, ...
    for (int32_t index : pass.reductions)
      sums.append(static_cast<size_t>(vectors), neutralOf(index));
    auto sumsAt = [&](MutableArrayRef<Value> all, int64_t vector) {
      SmallVector<Value *> each;
      for (size_t reduction = 0; reduction < pass.reductions.size(); ++reduction)
        each.push_back(&all[reduction * static_cast<size_t>(vectors) + static_cast<size_t>(vector)]);
      return each;
    };
    if (wholeEnd > 0) {
      auto loop = scf::ForOp::create(b, loc(), integer(0), integer(wholeEnd), integer(step), sums);
      OpBuilder::InsertionGuard guard(b);
      if (sums.empty())
        b.setInsertionPoint(loop.getBody()->getTerminator());
      else
        b.setInsertionPointToEnd(loop.getBody());
      SmallVector<Value> now(loop.getRegionIterArgs());
      for (int64_t vector = 0; vector < vectors; ++vector)
        emitVector(pass, isLast, add(loop.getInductionVar(), integer(vector * lanes)), Value(),
                   sumsAt(now, vector));
      if (!sums.empty())
        scf::YieldOp::create(b, loc(), now);
      sums.assign(loop.getResults().begin(), loop.getResults().end());
    }
    for (int64_t at = wholeEnd; at < width; at += lanes)
      emitVector(pass, isLast, integer(at), at + lanes > width ? maskOf(width - at) : Value(),
                 sumsAt(sums, (at - wholeEnd) / lanes));
    for (size_t reduction = 0; reduction < pass.reductions.size(); ++reduction)
      fold(pass.reductions[reduction], MutableArrayRef(sums).slice(reduction * static_cast<size_t>(vectors),
                                                                   static_cast<size_t>(vectors)));
  }

  Value maskOf(int64_t count) {
    SmallVector<bool> bits;
    for (int64_t lane = 0; lane < lanes; ++lane)
      bits.push_back(lane < count);
    return arith::ConstantOp::create(
        b, loc(), DenseElementsAttr::get(VectorType::get(lanes, b.getI1Type()), ArrayRef<bool>(bits)));
  }

  /// One vector of a pass; `sums` has its lanes of each reduction. All loads come before all stores, since a
  /// result may lie where an operand does.
  void emitVector(const RowPasses::Pass &pass, bool isLast, Value at, Value mask, ArrayRef<Value *> sums) {
    SmallVector<Value> registers(rowRegisters);
    auto need = [&](int32_t reg) {
      if (reg >= 0 && static_cast<size_t>(reg) < walk.strides.size() && !registers[static_cast<size_t>(reg)])
        registers[static_cast<size_t>(reg)] =
            load(static_cast<size_t>(reg), operandRows[static_cast<size_t>(reg)], at, mask);
    };
    for (int32_t index : pass.kept)
      registers[registerOf(index)] =
          LLVM::LoadOp::create(b, loc(), keptType(static_cast<size_t>(index)), keptAt(index, at), 4);
    for (int32_t index : pass.instructions) {
      for (int32_t source : instruction(index).sources)
        need(source);
      Value value = registers[registerOf(index)] = emit(instruction(index), registers);
      if (isKept[static_cast<size_t>(index)])
        LLVM::StoreOp::create(b, loc(), value, keptAt(index, at), 4);
    }
    for (size_t reduction = 0; reduction < sums.size(); ++reduction) {
      const int32_t index = pass.reductions[reduction], source = instruction(index).sources[0];
      need(source);
      const DType from = typeOf(static_cast<size_t>(source)), type = lanesType(index);
      Value value = registers[static_cast<size_t>(source)];
      if (from != type)
        value = instructions.emit({ElementwiseOp::Cast, type, {}}, value, from);
      Value &lane = *sums[reduction];
      Value combined = combine(index, lane, value);
      lane = mask ? arith::SelectOp::create(b, loc(), mask, combined, lane) : combined;
    }
    if (!isLast)
      return;
    for (size_t result = 0; result < program.outputs.size(); ++result)
      if (!program.outputIsRow[result])
        need(program.outputs[result]);
    for (size_t result = 0; result < program.outputs.size(); ++result)
      if (!program.outputIsRow[result])
        store(result, resultRows[result], at, registers[static_cast<size_t>(program.outputs[result])], mask);
  }

  /// Combines lanes by halves, first whole vectors, then within one.
  void fold(int32_t index, MutableArrayRef<Value> sums) {
    size_t left = sums.size();
    for (; left > 1; left /= 2)
      for (size_t low = 0; low < left / 2; ++low)
        sums[low] = combine(index, sums[low], sums[left / 2 + low]);
    Value folded = sums[0];
    for (int64_t half = lanes / 2; half > 0; half /= 2) {
      SmallVector<int64_t> upper;
      for (int64_t lane = 0; lane < lanes; ++lane)
        upper.push_back((half + lane) % lanes);
      folded = combine(index, folded, vector::ShuffleOp::create(b, loc(), folded, folded, upper));
    }
    Value one = vector::ExtractOp::create(b, loc(), folded, int64_t{0});
    folded = vector::BroadcastOp::create(b, loc(), folded.getType(), one);
    const DType from = lanesType(index), type = instruction(index).type;
    rowRegisters[registerOf(index)] =
        from == type ? folded : instructions.emit({ElementwiseOp::Cast, type, {}}, folded, from);
  }

  int64_t width = 0;
  RowPasses plan;
  std::vector<bool> isKept;                     ///< by instruction
  llvm::SmallDenseMap<int32_t, Value> keptRows; ///< on the stack
  SmallVector<Value> operandRows, resultRows;   ///< of the row at hand
  SmallVector<Value> rowRegisters;              ///< what has one value in the row; null: not yet, or no such
};

} // namespace

void emitRows(ModuleOp module, llvm::StringRef symbol, const ElementwiseProgram &program,
              const KernelWalk &walk, int lanes) {
  RowsEmitter(module, program, walk, lanes).emitFunction(symbol);
}

} // namespace weft
