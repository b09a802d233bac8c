//===- VirtualRanks.h - A compiled step on ranks that are threads -----------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_VIRTUALRANKS_H
#define WEFT_TOOLS_WEFT_TRIALS_VIRTUALRANKS_H

#include "runtime/executable/Executable.h"
#include "tools/weft-trials/Trajectory.h"

namespace weft::trials {

/// Runs the steps with the executable, which was compiled from `local` (the program in the local view, which
/// says what each rank gets of inputs and variables). Padding holds NaN at the start. Replicas must end with
/// equal bits. With `losesAnElement` the last rank begins with one element less.
absl::StatusOr<Trajectory> runSteps(const Executable &executable, mlir::ModuleOp local, const Start &start,
                                    const std::string &instructionSet, bool losesAnElement);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_VIRTUALRANKS_H
