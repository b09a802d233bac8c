//===- CheckpointWriter.h - Saving a checkpoint: all of it or nothing -----===//
//
// A save writes into `step-N.tmp` beside the final name: each rank's tensors as one safetensors file, then
// the manifest; each file and then the folder is on the disk before the folder is renamed to `step-N`.
// Whenever the process or the machine stops, `step-N` is whole or absent; a `step-N` that was there before
// stays until the new one takes its place in one step.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H
#define WEFT_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H

#include "runtime/checkpoint/FileSystem.h"
#include "runtime/checkpoint/Manifest.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace weft::checkpoint {

/// Says which slice of a global tensor a rank's data is. Each element is given by exactly one rank.
struct TensorPart {
  std::vector<int64_t> globalShape;
  std::vector<int64_t> offset; ///< Of the data's first element, per dimension.
  std::string placement;       ///< As the compiler prints it.
  /// Of the memory at `data`, whose front corner is saved; empty: all of it is.
  std::vector<int64_t> memoryShape = {};
};

/// Row-major data in the caller's memory, which stays as it is during the save.
struct TensorView {
  std::string name;
  TensorType type; ///< Of what is saved.
  const void *data = nullptr;
  std::optional<TensorPart> part; ///< Absent: the data is the whole tensor.
};

struct SaveOptions {
  /// After the save, this many checkpoints stay: the new one and the newest before it. 0 keeps all.
  int64_t keepLatest = 0;
  FileSystem *files = &systemFiles();
  /// Checkpoints whose step is a multiple of this stay, too; 0: none for that.
  int64_t keepEvery = 0;
};

/// Saves all tensors of a program on one rank as `checkpoints`/step-N, N = state.step. When it returns OK,
/// the disk holds the checkpoint; on an error nothing is left of it, unless the message says that it was
/// saved and what failed after.
absl::Status saveCheckpoint(const std::string &checkpoints, const CheckpointState &state,
                            const std::vector<TensorView> &tensors, const SaveOptions &options = {});

/// The steps of a save when several ranks share it. One rank begins; all write; one commits what all have
/// written. `beginSave` creates the temporary folder, removing what a crashed save left of it, and returns
/// its path; it fails early when the disk has fewer than `bytes` free.
absl::StatusOr<std::string> beginSave(const std::string &checkpoints, int64_t step, int64_t bytes,
                                      FileSystem &files);
/// Cancelled once `stop`, which another thread may set, is true.
absl::StatusOr<RankRecord> writeRank(const std::string &temporary, int64_t rank,
                                     const std::vector<TensorView> &tensors, FileSystem &files,
                                     const std::atomic<bool> *stop = nullptr);
/// Writes the manifest and gives the folder its name.
absl::Status commitSave(const std::string &temporary, const CheckpointState &state,
                        const std::vector<RankRecord> &ranks, FileSystem &files);
/// The same with a final name of its own.
absl::Status commitSaveAs(const std::string &temporary, const std::string &final,
                          const CheckpointState &state, const std::vector<RankRecord> &ranks,
                          FileSystem &files);
/// Removes the older checkpoints that the options do not keep, after `step` was saved.
absl::Status removeOlder(const std::string &checkpoints, int64_t step, const SaveOptions &options);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H
