//===- Trajectory.h - What a few steps of training did ----------------------===//
//
// Of some steps from one start: the scalars that each step put out, the gradients of the first step, and what
// the last left of every parameter, less what it began with.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_TRAJECTORY_H
#define WEFT_TOOLS_WEFT_TRIALS_TRAJECTORY_H

#include "compiler/interpret/Interpreter.h"

#include <map>

namespace weft::trials {

using interpret::Tensor;

struct Trajectory {
  std::map<std::string, Tensor> scalars;   ///< `loss of step 2`
  std::map<std::string, Tensor> gradients; ///< whole; empty where they could not be seen
  std::map<std::string, Tensor> updates;   ///< whole, of parameters
};

/// What is common to every run of a case: its start, and the inputs of each step by name, whole.
struct Start {
  interpret::Variables variables;
  std::vector<std::map<std::string, Tensor>> inputs;
};

/// Seeded values for `steps` steps of the module's nn.step @step, in the global view.
mlir::FailureOr<Start> drawStart(mlir::ModuleOp module, int64_t steps, uint64_t seed);

/// Interprets the steps exactly, in the global or the local view, also once they are cut into stages.
mlir::FailureOr<Trajectory> interpretSteps(mlir::ModuleOp module, const Start &start);

/// Runs the steps of a module that has been through all phases with the executor, on virtual ranks; see
/// runOnVirtualRanks.
absl::StatusOr<Trajectory> executeSteps(mlir::ModuleOp planned, const Start &start, bool losesAnElement);

/// What parameters became, less what they were.
std::map<std::string, Tensor> updatesOf(mlir::ModuleOp module, const interpret::Variables &before,
                                        const interpret::Variables &after);

struct Difference {
  double error = 0;
  std::string name;
};

/// The worst tensor of `now` against `reference`, by ||a - b|| / max(||b||, 1e-6 x the norm of all its kind
/// together); a tensor that is missing is infinitely wrong.
Difference worstDifference(const Trajectory &reference, const Trajectory &now);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_TRAJECTORY_H
