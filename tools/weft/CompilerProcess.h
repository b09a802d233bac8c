//===- CompilerProcess.h - Compiling in a child process -------------------===//
//
// `weft` links no compiler: it starts `weft-compile`, which lies beside it or on PATH, and waits for it. The
// child's messages go where this process's go; its exit code becomes this one's.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILERPROCESS_H
#define WEFT_TOOLS_WEFT_COMPILERPROCESS_H

#include "runtime/executable/MemoryLimits.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace weft {

/// The arguments that hand limits of memory on.
void addMemoryLimits(const MemoryLimits &limits, std::vector<std::string> &arguments);

/// Runs weft-compile with these arguments. `quiet` drops what it prints on standard output. A child that
/// failed has said why on standard error: the status then has an empty message and the child's exit code.
absl::Status runCompiler(const std::vector<std::string> &arguments, bool quiet);

/// Runs it, and returns what it prints on standard output.
absl::StatusOr<std::string> askCompiler(const std::vector<std::string> &arguments);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMPILERPROCESS_H
