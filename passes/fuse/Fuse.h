//===- Fuse.h - Phase 11: kernels -------------------------------------------===//
#ifndef WEFT_PASSES_FUSE_FUSE_H
#define WEFT_PASSES_FUSE_FUSE_H

#include "mlir/IR/Block.h"
#include "mlir/Pass/Pass.h"

#include <map>
#include <string>

namespace weft {
#define GEN_PASS_DECL
#include "passes/fuse/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/fuse/Passes.h.inc"

/// True for the nn ops that an element-wise program can compute.
bool isElementwise(mlir::Operation *op);

/// Why element-wise ops stayed apart from the region that computes one of their operands, and how often.
using ApartCounts = std::map<std::string, int64_t>;

/// What was computed again in the actions of a module, and by how many bytes that lowered the peak of results
/// in one action, at most.
struct Rematerialized {
  int64_t launches = 0, bytes = 0;
};

/// An op with this attribute, a number, is in a region with the ops that have the same one, and no others.
inline constexpr char kRegionAttribute[] = "weft.region";

/// Whether a region may reduce the last dimension of a tensor of this shape: empty, or why not.
std::string reasonNoRows(llvm::ArrayRef<int64_t> shape);

/// Replaces regions of element-wise ops of one shape, with reductions of its last dimension, in `block` by
/// launches of `elementwise`; without `regions` each element-wise op by its own.
void groupElementwise(mlir::Block &block, bool regions, ApartCounts &apart);

/// Replaces each linear_cross_entropy_backward whose cotangents do not depend on its forward by one launch
/// that computes both. Heads whose weight is rounded to bfloat16 for them alone become launches that round
/// it.
void launchLossHeads(mlir::Block &block);
} // namespace weft

#endif // WEFT_PASSES_FUSE_FUSE_H
