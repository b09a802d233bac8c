//===- Paths.h - Paths relative to the run file ---------------------------===//
//
// One rule for every path of a run: relative to the folder of the run file, made absolute while loading.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_PATHS_H
#define WEFT_RUNTIME_CONFIG_PATHS_H

#include "runtime/config/ConfigTree.h"

#include "absl/status/statusor.h"

namespace weft {

/// The absolute path without `.` and `..`. INVALID_ARGUMENT with only the reason when the node is not a path.
absl::StatusOr<std::string> readPath(const ConfigNode &node, const std::string &folder);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_PATHS_H
