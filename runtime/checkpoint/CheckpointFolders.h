//===- CheckpointFolders.h - The folder that holds a run's checkpoints ----===//
//
// `checkpoints/` holds `step-N`, each whole; `step-N.tmp` is a save at work or one that was cut off,
// `step-N.trash` a checkpoint being deleted. Deletion renames first, so that no moment shows half a
// checkpoint under a good name. Finding the latest changes nothing; cleaning is for the job that holds the
// run's lock.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_CHECKPOINTFOLDERS_H
#define WEFT_RUNTIME_CHECKPOINT_CHECKPOINTFOLDERS_H

#include "runtime/checkpoint/Checkpoint.h"

#include <optional>

namespace weft::checkpoint {

/// `checkpoints`/step-N.
std::string stepFolder(const std::string &checkpoints, int64_t step);
/// `checkpoints`/step-N.tmp.
std::string temporaryFolder(const std::string &checkpoints, int64_t step);

struct LatestCheckpoint {
  /// Absent when there is none, as at the first start.
  std::optional<Checkpoint> checkpoint;
  /// Newer ones that were passed over: one message each, with folder and cause.
  std::vector<std::string> broken;
};

/// The whole checkpoint of the highest step. An error is one that may hide a good checkpoint: a folder that
/// cannot be read, a checkpoint of a newer format.
absl::StatusOr<LatestCheckpoint> findLatest(const std::string &checkpoints,
                                            FileSystem &files = systemFiles());

/// The paths of all checkpoints in the folder, whole or not, by ascending step.
absl::StatusOr<std::vector<std::string>> stepFolders(const std::string &checkpoints,
                                                     FileSystem &files = systemFiles());

/// The folder of checkpoints that a person means by a run's folder or by that folder itself; absent when the
/// path is (or should be) one checkpoint.
absl::StatusOr<std::optional<std::string>> checkpointsAt(const std::string &path,
                                                         FileSystem &files = systemFiles());

/// The checkpoint that a path means: itself, or the latest whole one of a run's folder or of its folder of
/// checkpoints. `broken` is told what was passed over.
absl::StatusOr<Checkpoint> openMeant(const std::string &path, std::vector<std::string> &broken,
                                     FileSystem &files = systemFiles());

/// Removes what crashed saves and deletions left; returns the names removed. Only while holding the run's
/// lock.
absl::StatusOr<std::vector<std::string>> cleanLeftovers(const std::string &checkpoints,
                                                        FileSystem &files = systemFiles());

/// Deletes whole checkpoints older than `saved`, oldest first, until with it the newest `count` are left, and
/// those whose step is a multiple of `every`; a count of 0 deletes none, an `every` of 0 keeps none. Broken
/// ones are left for a person to look at.
absl::Status keepLatest(const std::string &checkpoints, int64_t saved, int64_t count, int64_t every,
                        FileSystem &files = systemFiles());

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_CHECKPOINTFOLDERS_H
