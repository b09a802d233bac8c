//===- OpenRun.h - A trained model, ready to run --------------------------===//
//
// What commands that use a model and do not train it begin with: the program of a run (or an executable with
// a checkpoint beside it) and the weights of a checkpoint, which any mesh may have saved. No compiler is
// needed, and nothing is written, so a run may be looked at while it trains. The program runs on the ranks
// that it was compiled for: threads, or the processes of a launcher.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_OPENRUN_H
#define WEFT_RUNTIME_TRAIN_OPENRUN_H

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/config/ConfigLoader.h"
#include "runtime/executable/Executable.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/train/JobProcesses.h"
#include "runtime/train/RunOnRanks.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct OpenedRun {
  LoadedConfig loaded;
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<Executable> parts;
  std::optional<checkpoint::Checkpoint> checkpoint;
  std::vector<std::string> warnings; ///< checkpoints that were passed over
};

/// `path` is a run's folder or an executable. `checkpoint` is a checkpoint, or a run's folder, whose latest
/// is taken; empty: the latest of `path`, which then is a run's folder. `overrides` are of keys that no
/// program is compiled from.
absl::StatusOr<OpenedRun> openRun(const std::string &path, const std::string &checkpoint,
                                  const std::vector<std::string> &overrides,
                                  const std::optional<Launcher> &launcher = std::nullopt);

/// Calls `body` on each rank of the program that is here, whose parameters are those of the checkpoint. Takes
/// the program out of the run.
absl::Status runOpened(OpenedRun &run, const JobProcesses &processes, const RankBody &body);

/// What a command does with an opened run; `processes` are those that run it together.
using OpenedRunBody = std::function<absl::Status(OpenedRun &run, JobProcesses &processes)>;
/// Opens a run in every process of the job, as openRun() does, and calls `body`; rank 0 prints the warnings.
/// The status with which the process ends. `command` is what a message tells to start: "weft eval runs/a".
absl::Status withOpenedRun(const std::string &path, const std::string &checkpoint,
                           const std::vector<std::string> &overrides, const std::string &command,
                           const OpenedRunBody &body);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_OPENRUN_H
