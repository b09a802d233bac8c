//===- VirtualRanks.h - A compiled program on ranks that are threads --------===//
//
// From `fuse` on a program is launches of kernels, and what it means is what it does: it is emitted and run
// by the executor on every rank of its mesh, of a pipeline each rank its own part. What goes in and comes out
// is whole, as for the interpreter.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_VALIDATE_VIRTUALRANKS_H
#define WEFT_COMPILER_VALIDATE_VIRTUALRANKS_H

#include "compiler/interpret/Variables.h"
#include "runtime/executable/Executable.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace weft {

/// Whether the program has been through `fuse`: only the executor runs it.
bool isFused(mlir::Operation *program);

/// The parts of a fused module, which holds the whole job, with a memory plan if it has none yet, for the
/// best instruction set of this machine and one thread. Fails with diagnostics, or a message.
absl::StatusOr<std::vector<Executable>> partsOf(mlir::ModuleOp module);

/// The variables that the program writes, each once, in program order; of a pipeline rank by rank.
std::vector<std::string> writtenBy(mlir::Operation *program);

struct VirtualRanksOptions {
  bool losesAnElement = false; ///< the last rank begins with one element less: what a check must see
};

/// Runs `program`, a sched.program of the fused module that `parts` were emitted from, once for each entry of
/// `runs`: inputs in the order of interpret::inputsOf. Of a pipeline, the program of any rank stands for
/// those of all. `variables`, of all of the module, are those before the first run, and become those after
/// the last. Padding holds NaN at the start. Returns the outputs of each run in the order of
/// interpret::outputNames. Internal when ranks that hold the same, also in different parts, end with
/// different bits.
absl::StatusOr<std::vector<std::vector<interpret::Tensor>>>
runOnVirtualRanks(const std::vector<Executable> &parts, mlir::Operation *program,
                  llvm::ArrayRef<std::vector<interpret::Tensor>> runs, interpret::Variables &variables,
                  const VirtualRanksOptions &options = {});

} // namespace weft

#endif // WEFT_COMPILER_VALIDATE_VIRTUALRANKS_H
