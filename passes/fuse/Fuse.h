//===- Fuse.h - Phase 11: kernels -------------------------------------------===//
#ifndef WEFT_PASSES_FUSE_FUSE_H
#define WEFT_PASSES_FUSE_FUSE_H

#include "mlir/IR/Block.h"
#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/fuse/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/fuse/Passes.h.inc"

/// True for the nn ops that an element-wise program can compute.
bool isElementwise(mlir::Operation *op);

/// Replaces regions of element-wise ops of one shape in `block` by launches of `elementwise`.
void groupElementwise(mlir::Block &block);

/// Replaces each linear_cross_entropy_backward whose cotangents do not depend on its forward by one launch
/// that computes both.
void mergeLossHeads(mlir::Block &block);
} // namespace weft

#endif // WEFT_PASSES_FUSE_FUSE_H
