//===- CompiledProgram.h - A function, compiled and executed ----------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_COMPILEDPROGRAM_H
#define WEFT_TOOLS_WEFT_TRIALS_COMPILEDPROGRAM_H

#include "runtime/device/Device.h"
#include "runtime/executable/Executable.h"
#include "tools/weft-trials/CaseBuilder.h"

namespace weft::trials {

struct CompiledProgram {
  Executable executable;
  int64_t kernels = 0, decompositions = 0; ///< what became of the composites
};

/// Runs the phases schedule to emit on a copy of the module, each with its verifier, and generates its
/// kernels for the instruction set, which must be in use. Fails with a diagnostic.
mlir::FailureOr<CompiledProgram> compileFunction(mlir::ModuleOp module, const std::string &instructionSet);

/// Executes the one program on the device; the bytes of its results, in order. Inputs are written in their
/// types.
absl::StatusOr<std::vector<std::vector<std::byte>>>
execute(const CompiledProgram &program, Device &device, const std::vector<Tensor> &inputs, size_t results);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_COMPILEDPROGRAM_H
