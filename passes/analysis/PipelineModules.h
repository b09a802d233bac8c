//===- PipelineModules.h - The modules that hold programs ---------------------===//
//
// After the cut a job is one inner module for each pipeline rank, and each of them is what a whole job is
// without a pipeline: variables, programs, a memory plan.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_ANALYSIS_PIPELINEMODULES_H
#define WEFT_PASSES_ANALYSIS_PIPELINEMODULES_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// The inner modules in their order, or the module itself where it has none.
inline llvm::SmallVector<mlir::ModuleOp> pipelineModules(mlir::ModuleOp module) {
  auto inner = module.getOps<mlir::ModuleOp>();
  if (inner.empty())
    return {module};
  return {inner.begin(), inner.end()};
}

/// The module that holds all pipeline ranks, of an op in one of them; else the op's own module.
inline mlir::ModuleOp jobModuleOf(mlir::Operation *op) {
  auto own = op->getParentOfType<mlir::ModuleOp>();
  auto outer = own->getParentOfType<mlir::ModuleOp>();
  return outer ? outer : own;
}

} // namespace weft

#endif // WEFT_PASSES_ANALYSIS_PIPELINEMODULES_H
