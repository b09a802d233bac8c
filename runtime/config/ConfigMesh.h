//===- ConfigMesh.h - The mesh that a config asks for ---------------------===//
//
// From the sizes in `parallel` to named axes. Each size becomes its prime factors, largest first, so that two
// query groups on four ranks may split over one factor and be replicated over the other. The rank counts
// through data_replicate slowest and tensor fastest: ranks that talk most are neighbors.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_CONFIGMESH_H
#define WEFT_RUNTIME_CONFIG_CONFIGMESH_H

#include "runtime/config/Config.h"
#include "runtime/executable/Mesh.h"

namespace weft {

/// Axes r0, r1, ... (data_replicate), d0, ... (data_shard), t0, ... (tensor); roles `data` (those of
/// data_replicate and data_shard), `data_replicate`, `data_shard` and `tensor`, of which any may have no
/// axis. One rank: no axes and no roles.
Mesh meshOf(const Config &config);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_CONFIGMESH_H
