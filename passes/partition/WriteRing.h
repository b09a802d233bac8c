//===- WriteRing.h - Attention whose keys are split, as a loop -----------------===//
//
// An attention of the global view that is marked `ring` may have queries and keys split over the same axes.
// What one rank runs of it is a dist.ring: its queries stay, keys and values travel, and partial attentions
// are merged by their log-sum-exps; in the backward the gradients of keys and values travel along.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARTITION_WRITERING_H
#define WEFT_PASSES_PARTITION_WRITERING_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace weft {

/// True for an attention, or its backward, whose queries and keys are both split. Of one that is marked but
/// whole, the mark is removed.
bool goesAround(mlir::Operation *op);

/// Replaces such an op, whose operands are in the local view already, by a ring. Fails, with a diagnostic,
/// where the positions do not divide evenly.
mlir::LogicalResult writeRing(mlir::Operation *op);

} // namespace weft

#endif // WEFT_PASSES_PARTITION_WRITERING_H
