//===- Instructions.h - One instruction, as ops on vectors -----------------===//
//
// The instruction set of element-wise programs (kernels/common/ElementwiseOps.h) over registers of `lanes`
// elements. A register holds bf16, f16 and f32 as vector<xf32>, i1 as vector<xi1>, the others as they are.
// Every op rounds by itself: none carries a flag that allows to contract or to reorder.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_CODEGEN_INSTRUCTIONS_H
#define WEFT_COMPILER_CODEGEN_INSTRUCTIONS_H

#include "kernels/common/ElementwiseOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace weft {

class Instructions {
public:
  /// Functions that instructions call (compiler/codegen/VectorFunctions.cpp) are declared in `module`.
  Instructions(mlir::OpBuilder &builder, mlir::ModuleOp module, int lanes)
      : b(builder), module(module), lanes(lanes) {}

  mlir::VectorType registerType(DType type);
  mlir::Value constant(const ElementwiseConstant &constant);
  /// The result of a checked instruction; `from` is the type of its last source.
  mlir::Value emit(const ElementwiseInstruction &instruction, llvm::ArrayRef<mlir::Value> sources,
                   DType from);

  /// What memory holds (uint8_t, uint16_t for the types of 8 and 16 bits) as a register, and back.
  mlir::Value fromStored(mlir::Value stored, DType type);
  mlir::Value toStored(mlir::Value value, DType type);
  /// The element type of memory, as the machine loads it.
  mlir::Type storedType(DType type);

private:
  mlir::Value arithmetic(ElementwiseOp op, DType type, mlir::Value a, mlir::Value b);
  mlir::Value integerArithmetic(ElementwiseOp op, DType type, mlir::Value a, mlir::Value b);
  mlir::Value unary(ElementwiseOp op, DType type, mlir::Value a);
  mlir::Value compare(ElementwiseOp op, DType type, mlir::Value a, mlir::Value b);
  mlir::Value cast(mlir::Value a, DType from, DType to);
  mlir::Value floatToInteger(mlir::Value a, DType from, DType to);
  mlir::Value round(mlir::Value a, DType type);
  mlir::Value roundToBf16(mlir::Value a);
  /// The same numbers in a wider floating-point type.
  mlir::Value widen(mlir::Value a, mlir::VectorType type);

  /// A function of whole float32 vectors, or of each lane.
  mlir::Value call(llvm::StringRef name, DType type, llvm::ArrayRef<mlir::Value> sources);
  mlir::Value callByLane(llvm::StringRef name, llvm::ArrayRef<mlir::Value> sources, mlir::Type result);
  mlir::Value callFunction(const std::string &name, llvm::ArrayRef<mlir::Value> sources, mlir::Type result);

  mlir::Value splat(mlir::VectorType type, double value);
  mlir::Value splatInteger(mlir::VectorType type, int64_t value);
  mlir::Value zero(mlir::Value like);

  mlir::OpBuilder &b;
  mlir::ModuleOp module;
  int lanes;
};

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_INSTRUCTIONS_H
