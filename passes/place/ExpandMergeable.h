//===- ExpandMergeable.h - Reductions that a split parameter makes partial -------===//
//
// A cross-entropy is one op over the whole vocabulary. Where a parameter's use splits the vocabulary, the op
// is written as statistics of a part and a finish, whose rules let the split through.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PLACE_EXPANDMERGEABLE_H
#define WEFT_PASSES_PLACE_EXPANDMERGEABLE_H

#include "dialects/dist/Placement.h"

#include "mlir/IR/Block.h"

namespace weft {

/// Expands every op of `block` with a MergeableReductionOpInterface whose mergeable factor is a dimension of
/// a parameter, read in this block, that `uses` (by name) splits. Comes before placements are spread.
void expandMergeableReductions(mlir::Block &block, llvm::function_ref<dist::Placement(llvm::StringRef)> uses);

} // namespace weft

#endif // WEFT_PASSES_PLACE_EXPANDMERGEABLE_H
