//===- EmitKernel.h - An element-wise program as a function ----------------===//
//
// One pass over the elements [begin, end) of the iteration space, a vector at a time: every operand is loaded
// once, every result stored once, and what lies between stays in registers. Operands that repeat along the
// innermost dimension are loaded once a row.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_CODEGEN_EMITKERNEL_H
#define WEFT_COMPILER_CODEGEN_EMITKERNEL_H

#include "compiler/codegen/KernelWalk.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Adds the function `symbol`, a GeneratedFunction (kernels/common/GeneratedKernel.h), to `module`, in the
/// dialects func, scf, arith, math, vector and llvm (of which it takes pointers, loads and stores).
void emitKernel(mlir::ModuleOp module, llvm::StringRef symbol, const ElementwiseProgram &program,
                const KernelWalk &walk, int lanes);

/// The same of a program with reductions (EmitRows.cpp).
void emitRows(mlir::ModuleOp module, llvm::StringRef symbol, const ElementwiseProgram &program,
              const KernelWalk &walk, int lanes);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_EMITKERNEL_H
