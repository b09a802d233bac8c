#include "compiler/codegen/KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace weft {

Block *KernelEmitter::beginFunction(llvm::StringRef symbol) {
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
  for (const ElementwiseConstant &constant : program.constants)
    constants.push_back(instructions.constant(constant));
  return body;
}

void KernelEmitter::endFunction() { func::ReturnOp::create(b, loc()); }

Value KernelEmitter::integer(int64_t value) {
  return arith::ConstantIntOp::create(b, loc(), b.getI64Type(), value);
}

Value KernelEmitter::add(Value x, Value y) { return arith::AddIOp::create(b, loc(), x, y); }

Value KernelEmitter::multiply(Value x, int64_t y) { return arith::MulIOp::create(b, loc(), x, integer(y)); }

Value KernelEmitter::pointerAt(Value array, size_t index) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value at = LLVM::GEPOp::create(b, loc(), pointer, pointer, array,
                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  return LLVM::LoadOp::create(b, loc(), pointer, at);
}

Value KernelEmitter::element(Value pointer, DType type, Value index) {
  return LLVM::GEPOp::create(b, loc(), pointer.getType(), instructions.storedType(type), pointer,
                             ArrayRef<LLVM::GEPArg>{index});
}

VectorType KernelEmitter::storedVector(DType type) {
  return VectorType::get(lanes, instructions.storedType(type));
}

Value KernelEmitter::repeated(size_t operand, Value pointer) {
  DType type = typeOf(operand);
  Value one = LLVM::LoadOp::create(b, loc(), instructions.storedType(type), pointer);
  return instructions.fromStored(vector::BroadcastOp::create(b, loc(), storedVector(type), one), type);
}

Value KernelEmitter::load(size_t operand, Value row, Value at, Value mask) {
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

Value KernelEmitter::gather(Value pointer, DType type, int64_t stride, Value mask) {
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

/// True for a mask that is known to leave the first lane alone.
static bool hasOneLane(Value mask) {
  auto constant = mask.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return false;
  auto bits = cast<DenseElementsAttr>(constant.getValue()).getValues<bool>();
  return *bits.begin() && llvm::count(bits, true) == 1;
}

void KernelEmitter::store(size_t result, Value row, Value at, Value value, Value mask) {
  DType type = typeOf(static_cast<size_t>(program.outputs[result]));
  const auto alignment = static_cast<unsigned>(byteSize(type));
  Value pointer = element(row, type, at);
  Value stored = instructions.toStored(value, type);
  // Of one lane that is narrower than its register LLVM 22 makes a store of the whole register, which writes
  // behind the row: vectors of 512 bits, two bytes an element.
  if (mask && hasOneLane(mask))
    LLVM::StoreOp::create(b, loc(), vector::ExtractOp::create(b, loc(), stored, int64_t{0}), pointer,
                          alignment);
  else if (mask)
    LLVM::MaskedStoreOp::create(b, loc(), stored, pointer, mask, b.getI32IntegerAttr(alignment));
  else
    LLVM::StoreOp::create(b, loc(), stored, pointer, alignment);
}

void KernelEmitter::countUses() {
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

Value KernelEmitter::emit(const ElementwiseInstruction &instruction, ArrayRef<Value> registers) {
  SmallVector<Value> sources;
  DType last = DType::F32;
  for (int32_t source : instruction.sources)
    if (source >= 0) {
      sources.push_back(registers[static_cast<size_t>(source)]);
      last = typeOf(static_cast<size_t>(source));
    }
  return instructions.emit(instruction, sources, last);
}

SmallVector<Value> KernelEmitter::operandRowsAt(Value row) {
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
  SmallVector<Value> rows(walk.strides.size());
  for (size_t operand = 0; operand < offsets.size(); ++operand)
    if (isUsed[operand])
      rows[operand] = element(operandPointers[operand], typeOf(operand), offsets[operand]);
  return rows;
}

Value KernelEmitter::resultAt(size_t result, Value start) {
  return element(resultPointers[result], typeOf(static_cast<size_t>(program.outputs[result])), start);
}

} // namespace weft
