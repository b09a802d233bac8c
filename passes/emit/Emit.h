//===- Emit.h - Phase 13: the executable ---------------------------------------===//
#ifndef WEFT_PASSES_EMIT_EMIT_H
#define WEFT_PASSES_EMIT_EMIT_H

#include "runtime/executable/Executable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <vector>

namespace weft {

/// Writes the module's programs, after the memory phase, as the parts of a job: one for each inner module in
/// the order of pipeline ranks, or one for the module itself. Each has its memory plan, variables, kernels
/// and commands; config, tokenizer and target are the caller's to fill. Fails with a diagnostic.
mlir::FailureOr<std::vector<Executable>> emitExecutables(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_PASSES_EMIT_EMIT_H
