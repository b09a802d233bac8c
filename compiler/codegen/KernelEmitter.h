//===- KernelEmitter.h - What emitters of generated functions share --------===//
//
// The function's frame, and memory to registers and back: whole vectors, vectors with a mask, and what
// repeats.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_CODEGEN_KERNELEMITTER_H
#define WEFT_COMPILER_CODEGEN_KERNELEMITTER_H

#include "compiler/codegen/Instructions.h"
#include "compiler/codegen/KernelWalk.h"

namespace weft {

class KernelEmitter {
public:
  KernelEmitter(mlir::ModuleOp module, const ElementwiseProgram &program, const KernelWalk &walk, int lanes)
      : b(module.getContext()), module(module), program(program), walk(walk), lanes(lanes),
        instructions(b, module, lanes) {}

protected:
  /// Begins the function: pointers to what is used, constants, and operands of one element as registers.
  mlir::Block *beginFunction(llvm::StringRef symbol);
  void endFunction();

  mlir::Location loc() { return b.getUnknownLoc(); }
  mlir::Value integer(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value multiply(mlir::Value x, int64_t y);
  DType typeOf(size_t reg) const { return program.registerTypes[reg]; }

  mlir::Value element(mlir::Value pointer, DType type, mlir::Value index);
  mlir::VectorType storedVector(DType type);
  /// A register that holds one element of memory in every lane.
  mlir::Value repeated(size_t operand, mlir::Value pointer);
  /// Lanes of an operand from element `at` of a row on; without a mask all of them.
  mlir::Value load(size_t operand, mlir::Value row, mlir::Value at, mlir::Value mask);
  void store(size_t result, mlir::Value row, mlir::Value at, mlir::Value value, mlir::Value mask);
  /// An instruction on registers.
  mlir::Value emit(const ElementwiseInstruction &instruction, llvm::ArrayRef<mlir::Value> registers);

  /// Where row `row` of each operand begins, of the walk without its innermost dimension.
  llvm::SmallVector<mlir::Value> operandRowsAt(mlir::Value row);
  /// Where elements from `start` on of each result are.
  mlir::Value resultAt(size_t result, mlir::Value start);

  mlir::OpBuilder b;
  mlir::ModuleOp module;
  const ElementwiseProgram &program;
  const KernelWalk &walk;
  int lanes;
  Instructions instructions;
  llvm::SmallVector<bool> isUsed;
  llvm::SmallVector<mlir::Value> operandPointers, resultPointers, scalars, constants;

private:
  void countUses();
  mlir::Value pointerAt(mlir::Value array, size_t index);
  mlir::Value gather(mlir::Value pointer, DType type, int64_t stride, mlir::Value mask);
};

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_KERNELEMITTER_H
