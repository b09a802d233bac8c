//===- SnapshotSaver.cpp - Saving while the training goes on --------------===//
//
// One thread per save: joining it is the only synchronization, and between saves nothing runs.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/SnapshotSaver.h"

#include <system_error>
#include <utility>

namespace weft::checkpoint {

SnapshotSaver::~SnapshotSaver() {
  if (worker.joinable())
    worker.join();
}

absl::Status SnapshotSaver::wait() {
  if (worker.joinable())
    worker.join();
  return std::exchange(result, absl::OkStatus());
}

absl::Status SnapshotSaver::save(const std::string &checkpoints, CheckpointState state,
                                 std::vector<TensorView> tensors) {
  if (absl::Status status = wait(); !status.ok())
    return status;
  try {
    worker = std::thread([this, checkpoints, state = std::move(state), tensors = std::move(tensors)] {
      result = saveCheckpoint(checkpoints, state, tensors, options);
    });
  } catch (const std::system_error &) {
    return absl::ResourceExhaustedError(
        "checkpoint: the system gives no thread for the save. Raise the limit of "
        "processes (ulimit -u).");
  }
  return absl::OkStatus();
}

} // namespace weft::checkpoint
