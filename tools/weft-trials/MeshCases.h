//===- MeshCases.h - Small models on random meshes --------------------------===//
//
// Case S: model number S modulo 11, of which seven are one of each family but Llama, and a mesh of up to 32
// ranks, ZeRO level, sequence parallelism, method of context parallelism, pipeline and its schedule, masks of
// attention, microbatches and optimizer drawn from S. Sizes are small and mostly odd, so parts are uneven.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_MESHCASES_H
#define WEFT_TOOLS_WEFT_TRIALS_MESHCASES_H

#include "runtime/config/Config.h"
#include "tools/weft-trials/AttentionVariants.h"

#include <set>
#include <string>

namespace weft::trials {

struct MeshCase {
  Config config;
  AttentionVariant attention;
  std::string model;              ///< which of them
  std::set<std::string> features; ///< of the mesh and the plan
  std::string text;               ///< one line
};

/// How many models there are: seed S draws number S modulo this.
inline constexpr uint64_t kMeshModels = 11;

MeshCase drawMeshCase(uint64_t seed);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_MESHCASES_H
