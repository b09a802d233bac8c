//===- Target.h - What kernels are chosen for -----------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILE_TARGET_H
#define WEFT_TOOLS_WEFT_COMPILE_TARGET_H

#include "runtime/config/Config.h"
#include "runtime/executable/Executable.h"

#include "absl/status/statusor.h"

namespace weft {

/// The target of a config on this machine; sets the instruction set of the process. `threads`: those that the
/// ranks here share; 0: this machine's.
absl::StatusOr<Target> openTarget(const Config &config, int64_t threads);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMPILE_TARGET_H
