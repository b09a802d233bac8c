//===- SnapshotSaver.h - Saving while the training goes on ----------------===//
//
// The trainer copies its state into a snapshot that it owns and hands it over; a thread writes it. At most
// one save is in flight. A save that failed is told at the next call, whichever it is, and never lost: `wait`
// at the end of the run is the last chance to hear of it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_SNAPSHOTSAVER_H
#define WEFT_RUNTIME_CHECKPOINT_SNAPSHOTSAVER_H

#include "runtime/checkpoint/CheckpointWriter.h"

#include <thread>

namespace weft::checkpoint {

/// Used by one thread, the trainer's.
class SnapshotSaver {
public:
  explicit SnapshotSaver(SaveOptions options) : options(options) {}
  SnapshotSaver(const SnapshotSaver &) = delete;
  SnapshotSaver &operator=(const SnapshotSaver &) = delete;
  /// Waits for the save in flight.
  ~SnapshotSaver();

  /// Waits for the save in flight and returns its error, once. After it the snapshot may be overwritten.
  absl::Status wait();

  /// Begins to save; the tensors' memory stays as it is until the next `wait` or `save` returns. Waits for
  /// the save before it; when that failed, returns its error and does not begin.
  absl::Status save(const std::string &checkpoints, CheckpointState state, std::vector<TensorView> tensors);

private:
  SaveOptions options;
  std::thread worker;
  absl::Status result; ///< Of the worker; read only after it was joined.
};

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_SNAPSHOTSAVER_H
