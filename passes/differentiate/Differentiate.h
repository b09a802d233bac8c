//===- Differentiate.h - Phase 3: joint forward and backward ---------------===//
#ifndef WEFT_PASSES_DIFFERENTIATE_DIFFERENTIATE_H
#define WEFT_PASSES_DIFFERENTIATE_DIFFERENTIATE_H

#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/differentiate/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/differentiate/Passes.h.inc"

/// Builds, before `builder`'s insertion point in `block`, the cotangents of `sources` given `seeds`
/// (cotangents of values of the block). The result has one entry per source, null where the seeds do not
/// depend on it. Fails with a diagnostic at an op that cannot be differentiated.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildBackward(mlir::Block &block, mlir::OpBuilder &builder, mlir::ValueRange sources,
              llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> seeds);
} // namespace weft

#endif // WEFT_PASSES_DIFFERENTIATE_DIFFERENTIATE_H
