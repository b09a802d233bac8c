//===- UnrollRings.h - A ring as the steps that it takes -----------------------===//
//
// Where placements end, a ring of n ranks becomes n copies of its regions and, between them, a `shift` of
// whatever travels: ordinary launches, so whatever comes later knows nothing of rings.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_FUSE_UNROLLRINGS_H
#define WEFT_PASSES_FUSE_UNROLLRINGS_H

#include "mlir/IR/Block.h"

namespace weft {

/// Unrolls every dist.ring of the block. With `isStaged`, shifts have a workspace for ranks in other
/// processes.
void unrollRings(mlir::Block &block, bool isStaged);

} // namespace weft

#endif // WEFT_PASSES_FUSE_UNROLLRINGS_H
