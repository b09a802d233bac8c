//===- ConfigMesh.h - The mesh that a config asks for ---------------------===//
//
// From the sizes in `parallel` to named axes. Each size becomes its prime factors, largest first, so that two
// query groups on four ranks may split over one factor and be replicated over the other. The rank counts
// through the pipeline slowest, then data_replicate, data_shard, context, and tensor fastest: ranks that talk
// most are neighbors.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_CONFIGMESH_H
#define WEFT_RUNTIME_CONFIG_CONFIGMESH_H

#include "runtime/config/Config.h"
#include "runtime/executable/Mesh.h"

namespace weft {

/// Axes p0, p1, ... (pipeline), r0, ... (data_replicate), d0, ... (data_shard), c0, ... (context), t0, ...
/// (tensor); roles `data` (those of data_replicate and data_shard), `data_replicate`, `data_shard`, `tensor`,
/// of which any may have no axis, and `context` and `pipeline` where they have some. One rank: no axes and no
/// roles.
Mesh meshOf(const Config &config);

/// The prime factors of a number, largest first: the sizes of its axes.
std::vector<uint32_t> primeFactors(int64_t number);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_CONFIGMESH_H
