//===- OpenRun.cpp - A trained model, ready to run ------------------------===//
//
// Only weights are read from the checkpoint: what the optimizer holds is of no use here.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/OpenRun.h"

#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/RankAgreement.h"
#include "runtime/train/RunFolder.h"
#include "runtime/train/TrainRun.h"
#include "runtime/train/VariableState.h"

#include "absl/strings/str_cat.h"

#include <cstdio>

namespace weft {
absl::StatusOr<OpenedRun> openRun(const std::string &path, const std::string &checkpointPath,
                                  const std::vector<std::string> &overrides,
                                  const std::optional<Launcher> &launcher) {
  const bool isFile = isExecutableFile(path);
  if (isFile && checkpointPath.empty())
    return withExitCode(absl::InvalidArgumentError(absl::StrCat(
                            path, ": an executable holds no weights. --checkpoint says where they are.")),
                        ExitCode::Config);
  const std::string program = isFile ? path : RunFolder{path}.program();
  absl::StatusOr<std::vector<Executable>> parts = readExecutables(program);
  if (!parts.ok())
    return withExitCode(parts.status(), ExitCode::Config);
  const Executable &common = parts->front();
  OpenedRun run;
  absl::StatusOr<LoadedConfig> loaded = executableConfig(common, program, overrides, launcher);
  if (!loaded.ok())
    return loaded.status();
  run.loaded = *std::move(loaded);
  if (absl::Status status = checkMesh(common, run.loaded.config); !status.ok())
    return status;
  absl::StatusOr<checkpoint::Checkpoint> checkpoint =
      checkpoint::openMeant(checkpointPath.empty() ? path : checkpointPath, run.warnings);
  if (!checkpoint.ok())
    return withExitCode(checkpoint.status(), ExitCode::Checkpoint);
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = loadTokenizer(common.tokenizer.str());
  if (!tokenizer.ok())
    return withExitCode(tokenizer.status(), ExitCode::Config);
  run.tokenizer = *std::move(tokenizer);
  run.parts = *std::move(parts);
  run.checkpoint = *std::move(checkpoint);
  return run;
}

absl::Status runOpened(OpenedRun &run, const JobProcesses &processes, const RankBody &body) {
  absl::StatusOr<std::shared_ptr<ThreadPool>> pool = openThreadPool(processes.threads(run.loaded.config));
  if (!pool.ok())
    return withExitCode(pool.status(), ExitCode::Config);
  return runOnRanks(
      std::move(run.parts), *pool,
      [&](Executor &executor, Communicator &communicator) {
        absl::Status status =
            restoreVariables(executor, *run.checkpoint, true, communicator.rank(), **pool).status();
        return status.ok() ? body(executor, communicator) : withExitCode(status, ExitCode::Checkpoint);
      },
      processes.communicator());
}

absl::Status withOpenedRun(const std::string &path, const std::string &checkpoint,
                           const std::vector<std::string> &overrides, const std::string &command,
                           const OpenedRunBody &body) {
  absl::StatusOr<std::optional<Launcher>> launcher = findLauncher();
  if (!launcher.ok())
    return withExitCode(launcher.status(), ExitCode::Config);
  absl::StatusOr<OpenedRun> run = openRun(path, checkpoint, overrides, *launcher);
  absl::StatusOr<JobProcesses> processes =
      JobProcesses::join(*launcher, run.ok() ? run->loaded.config : Config(), command);
  if (!processes.ok())
    return run.ok() ? processes.status() : run.status();
  absl::Status status = processes->agree(run.status());
  if (status.ok() && processes->areSeparate())
    status = processes->agree(checkConfigsAgree(*processes->communicator(), run->loaded));
  if (status.ok() && processes->leads())
    for (const std::string &warning : run->warnings)
      std::fprintf(stderr, "%s\n", warning.c_str());
  if (status.ok())
    status = body(*run, *processes);
  return processes->end(std::move(status));
}

} // namespace weft
