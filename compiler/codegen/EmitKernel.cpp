#include "compiler/codegen/EmitKernel.h"

#include "compiler/codegen/KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace weft {
namespace {

class LineEmitter : KernelEmitter {
public:
  using KernelEmitter::KernelEmitter;

  void emitFunction(llvm::StringRef symbol) {
    Block *body = beginFunction(symbol);
    if (walk.isLine())
      line(operandPointers, resultPointers, body->getArgument(2), body->getArgument(3));
    else
      rows(body->getArgument(2), body->getArgument(3));
    endFunction();
  }

private:
  /// The program on one vector: all loads come before all stores, since a result may lie where an operand
  /// does.
  void vectorAt(ArrayRef<Value> operandRows, ArrayRef<Value> resultRows, ArrayRef<Value> repeatedInRow,
                Value at, Value mask) {
    SmallVector<Value> registers(walk.strides.size());
    for (size_t operand = 0; operand < walk.strides.size(); ++operand)
      if (isUsed[operand])
        registers[operand] =
            repeatedInRow[operand] ? repeatedInRow[operand] : load(operand, operandRows[operand], at, mask);
    registers.append(constants.begin(), constants.end());
    for (const ElementwiseInstruction &instruction : program.instructions)
      registers.push_back(emit(instruction, registers));
    for (size_t result = 0; result < program.outputs.size(); ++result)
      store(result, resultRows[result], at, registers[static_cast<size_t>(program.outputs[result])], mask);
  }

  /// Elements [begin, end) of a row: whole vectors, then one with a mask.
  void line(ArrayRef<Value> operandRows, ArrayRef<Value> resultRows, Value begin, Value end) {
    SmallVector<Value> repeatedInRow(scalars);
    for (size_t operand = 0; operand < walk.strides.size(); ++operand)
      if (isUsed[operand] && !repeatedInRow[operand] && walk.strides[operand].back() == 0)
        repeatedInRow[operand] = repeated(operand, operandRows[operand]);
    Value count = arith::SubIOp::create(b, loc(), end, begin);
    Value left = arith::AndIOp::create(b, loc(), count, integer(lanes - 1));
    Value wholeEnd = arith::SubIOp::create(b, loc(), end, left);
    auto loop = scf::ForOp::create(b, loc(), begin, wholeEnd, integer(lanes));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(loop.getBody()->getTerminator());
      vectorAt(operandRows, resultRows, repeatedInRow, loop.getInductionVar(), Value());
    }
    Value isLeft = arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::sgt, left, integer(0));
    auto rest = scf::IfOp::create(b, loc(), isLeft, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(rest.thenBlock()->getTerminator());
    auto words = VectorType::get(lanes, b.getI32Type());
    SmallVector<int32_t> numbers(static_cast<size_t>(lanes));
    std::iota(numbers.begin(), numbers.end(), 0);
    Value lane = arith::ConstantOp::create(b, loc(), DenseElementsAttr::get(words, ArrayRef(numbers)));
    Value limit =
        vector::BroadcastOp::create(b, loc(), words, arith::TruncIOp::create(b, loc(), b.getI32Type(), left));
    Value mask = arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::ult, lane, limit);
    vectorAt(operandRows, resultRows, repeatedInRow, wholeEnd, mask);
  }

  /// The rows of the innermost dimension that [begin, end) touches, the first and the last perhaps in part.
  void rows(Value begin, Value end) {
    const int64_t inner = walk.sizes.back();
    Value size = integer(inner), one = integer(1);
    Value first = arith::DivUIOp::create(b, loc(), begin, size);
    Value behind =
        add(arith::DivUIOp::create(b, loc(), arith::SubIOp::create(b, loc(), end, one), size), one);
    auto loop = scf::ForOp::create(b, loc(), first, behind, one);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value row = loop.getInductionVar();
    Value start = arith::MulIOp::create(b, loc(), row, size);
    Value from = arith::MaxSIOp::create(b, loc(), arith::SubIOp::create(b, loc(), begin, start), integer(0));
    Value to = arith::MinSIOp::create(b, loc(), arith::SubIOp::create(b, loc(), end, start), size);
    SmallVector<Value> operandRows = operandRowsAt(row), resultRows;
    for (size_t result = 0; result < program.outputs.size(); ++result)
      resultRows.push_back(resultAt(result, start));
    line(operandRows, resultRows, from, to);
  }
};

} // namespace

void emitKernel(ModuleOp module, llvm::StringRef symbol, const ElementwiseProgram &program,
                const KernelWalk &walk, int lanes) {
  if (program.hasReductions())
    emitRows(module, symbol, program, walk, lanes);
  else
    LineEmitter(module, program, walk, lanes).emitFunction(symbol);
}

} // namespace weft
