//===- GenerateKernels.h - Native code for the kernels of a job ------------===//
//
// The element-wise programs of all parts of a job become functions of one shared object, one for each program
// that differs in more than the length of a line. What has no function keeps the interpreter of blocks, with
// the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_CODEGEN_GENERATEKERNELS_H
#define WEFT_COMPILER_CODEGEN_GENERATEKERNELS_H

#include "kernels/common/KernelCall.h"
#include "runtime/executable/Executable.h"

#include "absl/status/statusor.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct GeneratedKernels {
  std::string object;    ///< an ELF shared object; empty when no call has a function
  int64_t functions = 0; ///< that it exports
};

/// Gives the parts of a job, whose targets are set, the functions of their element-wise calls.
absl::Status generateKernels(std::vector<Executable> &parts);

/// Writes functions for the `elementwise` calls among `calls` and names them in their attribute `symbol`.
/// `target` is a name that findCodeTarget knows.
absl::StatusOr<GeneratedKernels> generateKernels(const std::vector<KernelCall *> &calls,
                                                 std::string_view target);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_GENERATEKERNELS_H
