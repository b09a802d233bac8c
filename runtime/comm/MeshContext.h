//===- MeshContext.h - A rank of a mesh, as kernels see it ----------------===//
//
// Ties the three together: the mesh of an executable, the communicator of one of its ranks, and the rank
// kernels that the executor creates. Each set of axes that kernels ask for becomes a group of the
// communicator.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_MESHCONTEXT_H
#define WEFT_RUNTIME_COMM_MESHCONTEXT_H

#include "kernels/collective/RankContext.h"
#include "runtime/comm/Communicator.h"
#include "runtime/executable/Mesh.h"

namespace weft {

/// The context of the communicator's rank, which is its rank in the mesh. The communicator must outlive it.
/// InvalidArgument when the two have different numbers of ranks.
absl::StatusOr<std::unique_ptr<RankContext>> createRankContext(Mesh mesh, Communicator &communicator);

} // namespace weft

#endif // WEFT_RUNTIME_COMM_MESHCONTEXT_H
