#include "compiler/codegen/EmitKernel.h"

#include "compiler/codegen/Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace weft {
namespace {

class KernelEmitter {
public:
  KernelEmitter(ModuleOp module, const ElementwiseProgram &program, const KernelWalk &walk, int lanes)
      : b(module.getContext()), module(module), program(program), walk(walk), lanes(lanes),
        instructions(b, module, lanes) {}

  void emit(llvm::StringRef symbol) {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto type = b.getFunctionType({pointer, pointer, b.getI64Type(), b.getI64Type()}, {});
    b.setInsertionPointToEnd(module.getBody());
    auto function = func::FuncOp::create(b, loc(), symbol, type);
    Block *body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    countUses();
    for (size_t operand = 0; operand < walk.strides.size(); ++operand)
      operandPointers.push_back(isUsed[operand] ? pointerAt(body->getArgument(0), operand) : Value());
    for (size_t result = 0; result < program.outputs.size(); ++result)
      resultPointers.push_back(pointerAt(body->getArgument(1), result));
    scalars.resize(walk.strides.size());
    for (size_t operand = 0; operand < walk.strides.size(); ++operand)
      if (isUsed[operand] && walk.isScalar(operand))
        scalars[operand] = repeated(operand, operandPointers[operand]);
    constants.clear();
    for (const ElementwiseConstant &constant : program.constants)
      constants.push_back(instructions.constant(constant));
    if (walk.isLine())
      line(operandPointers, resultPointers, body->getArgument(2), body->getArgument(3));
    else
      rows(body->getArgument(2), body->getArgument(3));
    func::ReturnOp::create(b, loc());
  }

private:
  Location loc() { return b.getUnknownLoc(); }
  Value integer(int64_t value) { return arith::ConstantIntOp::create(b, loc(), b.getI64Type(), value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc(), x, y); }
  Value multiply(Value x, int64_t y) { return arith::MulIOp::create(b, loc(), x, integer(y)); }
  DType typeOf(size_t reg) const { return program.registerTypes[reg]; }

  void countUses() {
    isUsed.assign(walk.strides.size(), false);
    auto use = [&](int32_t reg) {
      if (reg >= 0 && static_cast<size_t>(reg) < isUsed.size())
        isUsed[static_cast<size_t>(reg)] = true;
    };
    for (const ElementwiseInstruction &instruction : program.instructions)
      for (int32_t source : instruction.sources)
        use(source);
    for (int32_t output : program.outputs)
      use(output);
  }

  Value pointerAt(Value array, size_t index) {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value at = LLVM::GEPOp::create(b, loc(), pointer, pointer, array,
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    return LLVM::LoadOp::create(b, loc(), pointer, at);
  }
  Value element(Value pointer, DType type, Value index) {
    return LLVM::GEPOp::create(b, loc(), pointer.getType(), instructions.storedType(type), pointer,
                               ArrayRef<LLVM::GEPArg>{index});
  }
  VectorType storedVector(DType type) { return VectorType::get(lanes, instructions.storedType(type)); }

  /// A register that holds one element of memory in every lane.
  Value repeated(size_t operand, Value pointer) {
    DType type = typeOf(operand);
    Value one = LLVM::LoadOp::create(b, loc(), instructions.storedType(type), pointer);
    return instructions.fromStored(vector::BroadcastOp::create(b, loc(), storedVector(type), one), type);
  }

  /// Lanes of an operand from element `at` of a row on; without a mask all of them.
  Value load(size_t operand, Value row, Value at, Value mask) {
    DType type = typeOf(operand);
    const int64_t stride = walk.strides[operand].back();
    const auto alignment = static_cast<unsigned>(byteSize(type));
    Value pointer = element(row, type, stride == 1 ? at : multiply(at, stride));
    if (stride != 1)
      return instructions.fromStored(gather(pointer, type, stride, mask), type);
    Value stored;
    if (mask) {
      Value none = arith::ConstantOp::create(b, loc(), b.getZeroAttr(storedVector(type)));
      stored = LLVM::MaskedLoadOp::create(b, loc(), storedVector(type), pointer, mask, none,
                                          b.getI32IntegerAttr(alignment));
    } else {
      stored = LLVM::LoadOp::create(b, loc(), storedVector(type), pointer, alignment);
    }
    return instructions.fromStored(stored, type);
  }

  Value gather(Value pointer, DType type, int64_t stride, Value mask) {
    SmallVector<int64_t> offsets(static_cast<size_t>(lanes));
    std::iota(offsets.begin(), offsets.end(), 0);
    for (int64_t &offset : offsets)
      offset *= stride;
    auto indices = VectorType::get(lanes, b.getI64Type());
    Value each = arith::ConstantOp::create(b, loc(), DenseElementsAttr::get(indices, ArrayRef(offsets)));
    auto pointers = VectorType::get(lanes, pointer.getType());
    Value from = LLVM::GEPOp::create(b, loc(), pointers, instructions.storedType(type), pointer,
                                     ArrayRef<LLVM::GEPArg>{each});
    if (!mask)
      mask = arith::ConstantOp::create(b, loc(),
                                       DenseElementsAttr::get(VectorType::get(lanes, b.getI1Type()), true));
    Value none = arith::ConstantOp::create(b, loc(), b.getZeroAttr(storedVector(type)));
    return LLVM::masked_gather::create(b, loc(), storedVector(type), from, mask, ValueRange{none},
                                       b.getI32IntegerAttr(static_cast<int32_t>(byteSize(type))));
  }

  void store(size_t result, Value row, Value at, Value value, Value mask) {
    DType type = typeOf(static_cast<size_t>(program.outputs[result]));
    const auto alignment = static_cast<unsigned>(byteSize(type));
    Value pointer = element(row, type, at);
    Value stored = instructions.toStored(value, type);
    if (mask)
      LLVM::MaskedStoreOp::create(b, loc(), stored, pointer, mask, b.getI32IntegerAttr(alignment));
    else
      LLVM::StoreOp::create(b, loc(), stored, pointer, alignment);
  }

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
    for (const ElementwiseInstruction &instruction : program.instructions) {
      SmallVector<Value> sources;
      DType last = DType::F32;
      for (int32_t source : instruction.sources)
        if (source >= 0) {
          sources.push_back(registers[static_cast<size_t>(source)]);
          last = typeOf(static_cast<size_t>(source));
        }
      registers.push_back(instructions.emit(instruction, sources, last));
    }
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
    SmallVector<Value> offsets(walk.strides.size(), integer(0));
    Value rest = row;
    for (size_t dim = walk.sizes.size() - 1; dim-- > 0;) {
      Value index = rest;
      if (dim > 0) {
        Value extent = integer(walk.sizes[dim]);
        index = arith::RemUIOp::create(b, loc(), rest, extent);
        rest = arith::DivUIOp::create(b, loc(), rest, extent);
      }
      for (size_t operand = 0; operand < offsets.size(); ++operand)
        if (isUsed[operand] && walk.strides[operand][dim] != 0)
          offsets[operand] = add(offsets[operand], multiply(index, walk.strides[operand][dim]));
    }
    SmallVector<Value> operandRows(walk.strides.size()), resultRows;
    for (size_t operand = 0; operand < offsets.size(); ++operand)
      if (isUsed[operand])
        operandRows[operand] = element(operandPointers[operand], typeOf(operand), offsets[operand]);
    for (size_t result = 0; result < program.outputs.size(); ++result)
      resultRows.push_back(
          element(resultPointers[result], typeOf(static_cast<size_t>(program.outputs[result])), start));
    line(operandRows, resultRows, from, to);
  }

  OpBuilder b;
  ModuleOp module;
  const ElementwiseProgram &program;
  const KernelWalk &walk;
  int lanes;
  Instructions instructions;
  SmallVector<bool> isUsed;
  SmallVector<Value> operandPointers, resultPointers, scalars, constants;
};

} // namespace

void emitKernel(ModuleOp module, llvm::StringRef symbol, const ElementwiseProgram &program,
                const KernelWalk &walk, int lanes) {
  KernelEmitter(module, program, walk, lanes).emit(symbol);
}

} // namespace weft
