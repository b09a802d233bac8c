//===- SaveOnRanks.h - One checkpoint from all ranks ----------------------===//
//
// Rank 0 begins the save; every rank writes a file of the parts that it owns; when all files are on the disk,
// rank 0 writes the manifest that names them and gives the folder its name. So whenever a rank or the machine
// stops, the checkpoint is whole or absent, as on one rank; and a rank that cannot write its part stops all
// of them with its own message.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_SAVEONRANKS_H
#define WEFT_RUNTIME_TRAIN_SAVEONRANKS_H

#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/comm/Communicator.h"

namespace weft {

/// Saves what all ranks own as `checkpoints`/step-N, N = state.step. All ranks call it, with the same
/// arguments but for `owned`; `state` is that of rank 0. The same status on every rank, with the exit code of
/// checkpoints.
absl::Status saveOnRanks(Communicator &communicator, const std::string &checkpoints,
                         const checkpoint::CheckpointState &state,
                         const std::vector<checkpoint::TensorView> &owned,
                         const checkpoint::SaveOptions &options);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_SAVEONRANKS_H
