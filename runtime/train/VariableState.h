//===- VariableState.h - The variables of a run: first values, saved ones -===//
//
// All that persists over steps are the executable's variables. They begin as functions of (seed, name,
// index), so the first values do not depend on who computes them, and they go into checkpoints and come back
// as they are, bit for bit.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_VARIABLESTATE_H
#define WEFT_RUNTIME_TRAIN_VARIABLESTATE_H

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/exec/Executor.h"

#include <cstddef>
#include <string>
#include <vector>

namespace weft {

/// Gives every variable its first value.
void initializeVariables(Executor &executor, uint64_t seed);

/// Every variable under its checkpoint name; the views are of the executor's memory.
std::vector<checkpoint::TensorView> variableViews(const Executor &executor);

/// Fills all variables from a checkpoint, which must hold exactly these. With `weightsOnly`, what is
/// optimizer state stays as it is, and the checkpoint may hold more.
absl::Status restoreVariables(Executor &executor, const checkpoint::Checkpoint &checkpoint, bool weightsOnly);

/// The scalars among the state (counters, the loss scale) as they were: all that a step whose gradients are
/// not finite changes. With them put back, the step can be run again.
class ScalarState {
public:
  explicit ScalarState(const Executor &executor);
  void save();
  void restore() const;

private:
  std::vector<std::span<std::byte>> places;
  std::vector<std::byte> saved;
};

/// Trainable elements.
int64_t parameterCount(const Executable &executable);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_VARIABLESTATE_H
