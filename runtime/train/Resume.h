//===- Resume.h - Going on where a run stopped ----------------------------===//
//
// The latest whole checkpoint decides. Before anything of it is used, its config is held against the run's
// key by key, and its tokenizer and data by checksum: a run goes on exactly as it would have gone, or it is
// refused with what would make it go on.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_RESUME_H
#define WEFT_RUNTIME_TRAIN_RESUME_H

#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/config/Config.h"
#include "runtime/train/RunLog.h"

#include <optional>
#include <vector>

namespace weft {

/// What of a run's state is not in its variables.
struct Progress {
  int64_t step = 0;                 ///< steps done
  std::vector<double> recentLosses; ///< of the spike policy's window, oldest first
};

/// What a checkpoint says about the run besides its tensors.
struct RunIdentity {
  std::string config; ///< resolved, as YAML
  uint64_t tokenizerChecksum = 0;
  uint64_t dataChecksum = 0;
  std::string mesh = {}; ///< printMesh() of the program; empty on one rank
};

/// The checkpoint to go on from; absent at the first start. Removes what crashed saves left, and logs
/// whatever was passed over and every difference of the configs. Only while holding the run's lock.
absl::StatusOr<std::optional<checkpoint::Checkpoint>> findResumePoint(const std::string &checkpoints,
                                                                      const Config &config, RunLog &log);

/// Refuses a checkpoint that was made with another tokenizer or other data.
absl::Status checkIdentity(const checkpoint::Checkpoint &checkpoint, const RunIdentity &identity);

/// The config in a checkpoint.
absl::StatusOr<Config> savedConfig(const checkpoint::Checkpoint &checkpoint);

absl::StatusOr<Progress> savedProgress(const checkpoint::Checkpoint &checkpoint);

checkpoint::CheckpointState makeState(const Progress &progress, const RunIdentity &identity,
                                      const Config &config);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_RESUME_H
