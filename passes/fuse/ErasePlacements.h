//===- ErasePlacements.h - From placements to what a rank computes ---------------===//
#ifndef WEFT_PASSES_FUSE_ERASEPLACEMENTS_H
#define WEFT_PASSES_FUSE_ERASEPLACEMENTS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {
/// Ends the life of encodings. Collectives, and ops that depend on the rank, become launches; indices into a
/// split table become relative to the rank's part; every type becomes a plain tensor. What the runtime must
/// know of variables and inputs stays as their attribute. With `isStaged`, collectives have the attribute
/// that gives them a workspace for ranks in other processes.
mlir::LogicalResult erasePlacements(mlir::ModuleOp module, bool isStaged);
} // namespace weft

#endif // WEFT_PASSES_FUSE_ERASEPLACEMENTS_H
