//===- Emit.h - Phase 13: the executable ---------------------------------------===//
#ifndef WEFT_PASSES_EMIT_EMIT_H
#define WEFT_PASSES_EMIT_EMIT_H

#include "runtime/executable/Executable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace weft {

/// Writes the module's programs, after the memory phase, as an executable: memory plan, variables, kernels,
/// commands. Config, tokenizer and target are the caller's to fill. Fails with a diagnostic.
mlir::FailureOr<Executable> emitExecutable(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_PASSES_EMIT_EMIT_H
