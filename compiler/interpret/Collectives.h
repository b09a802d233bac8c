//===- Collectives.h - What ranks do together -------------------------------===//
//
// The ops of dist on values of a mesh, by their local shapes and groups alone, as kernels see them: a group
// folds in ascending order of its ranks. Nothing here looks at placements but the mask, so a collective that
// does not fit its types gives other values than they say.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_COLLECTIVES_H
#define WEFT_COMPILER_INTERPRET_COLLECTIVES_H

#include "compiler/interpret/Ranks.h"

namespace weft::interpret {

/// Every rank gets the fold over its group.
absl::StatusOr<MeshValue> allReduce(const Ranks &ranks, const MeshValue &value, llvm::ArrayRef<uint32_t> axes,
                                    dist::PendingKind kind, Types types);

/// The result of an op of dist; nothing when it is none of the local view. dist.wait passes on what its
/// collective gave.
std::optional<absl::StatusOr<MeshValue>> evaluateDist(mlir::Operation *op, const Ranks &ranks,
                                                      const MeshValue &operand, Types types);

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_COLLECTIVES_H
