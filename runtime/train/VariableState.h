//===- VariableState.h - The variables of a run: first values, saved ones -===//
//
// All that persists over steps are the executable's variables. They begin as functions of (seed, name, index
// in the whole tensor), so the first values do not depend on who computes them, and they go into checkpoints
// and come back as they are, bit for bit: each part from one of the ranks that hold it, and to any rank of
// any other mesh.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_VARIABLESTATE_H
#define WEFT_RUNTIME_TRAIN_VARIABLESTATE_H

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/exec/Executor.h"
#include "runtime/executable/Parts.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace weft {

/// The element type and the shape of the whole variable, of which a rank may hold a part.
TensorType globalType(const Variable &variable);

/// The part of a variable that a rank holds, as a slice of the whole; what lies behind it in the rank's
/// memory belongs to nobody.
checkpoint::Slice sliceOf(const Mesh &mesh, const Variable &variable, int64_t rank);

/// Gives every variable, or this rank's part of it, its first value; what belongs to nobody becomes zero.
void initializeVariables(Executor &executor, uint64_t seed, int64_t rank = 0);

/// The axes of a mesh and their sizes: `d0 = 2, t0 = 2`.
std::string printMesh(const Mesh &mesh);

/// What this rank saves, under checkpoint names: its parts of the variables, where it is the owner of the
/// ranks that hold the same part. The views are of the executor's memory.
std::vector<checkpoint::TensorView> variableViews(const Executor &executor, int64_t rank = 0);

/// The same of their copy in the executor's snapshot, which copyToSnapshot() makes. The plan has one.
std::vector<checkpoint::TensorView> snapshotViews(const Executor &executor, int64_t rank = 0);
/// What copies a variable.
using CopyBytes = std::function<void(void *to, const void *from, size_t bytes)>;
/// Meanwhile programs may read the variables.
void copyToSnapshot(const Executor &executor, int64_t rank, const CopyBytes &copy);
bool hasSnapshot(const Executable &executable);

/// OK if a checkpoint holds exactly the variables of a job, whatever the mesh that saved them.
absl::Status checkSaved(const std::vector<Executable> &parts, const checkpoint::Checkpoint &checkpoint);

/// Fills this rank's parts of its variables from a checkpoint, which may hold more. With `weightsOnly`, what
/// is optimizer state stays as it is. All threads read. Returns how many bytes of files were read.
absl::StatusOr<int64_t> restoreVariables(Executor &executor, const checkpoint::Checkpoint &checkpoint,
                                         bool weightsOnly, int64_t rank, ThreadPool &threads);

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

/// Trainable elements of the whole model.
int64_t parameterCount(const std::vector<Executable> &parts);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_VARIABLESTATE_H
