//===- Target.h - What kernels are chosen for -----------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILE_TARGET_H
#define WEFT_TOOLS_WEFT_COMPILE_TARGET_H

#include "runtime/config/Config.h"
#include "runtime/executable/Executable.h"

#include "absl/status/statusor.h"

namespace weft {

/// The target of a config on this machine; sets the instruction set of the process.
absl::StatusOr<Target> openTarget(const Config &config);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMPILE_TARGET_H
