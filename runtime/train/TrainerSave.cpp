//===- TrainerSave.cpp - The training loop and its checkpoints ------------===//
//
// A save in the middle of a run is of a copy, and training goes on: the next step computes while the copy is
// made, and waits for it where it writes the variables. That of the last step is of the variables
// themselves, for which there is nothing left to wait. After each step the ranks meet once: whether anyone
// was asked to stop, and whether all are done with their part of the save.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/ExitCode.h"
#include "runtime/train/RunOnRanks.h"
#include "runtime/train/Trainer.h"

#include "runtime/checkpoint/CheckpointFolders.h"

#include "absl/strings/str_format.h"

#include <array>

namespace weft {

void Trainer::openSaver() {
  CheckpointSaver::Options options;
  options.checkpoints = context.folder.checkpoints();
  options.save = {context.config.checkpoint.keepLatest, context.saving.files,
                  context.config.checkpoint.keepEvery};
  // The lines of the steps that a checkpoint counts on.
  options.before = [this] { return metrics->sync(); };
  options.saved = [this](const SaveReport &report) { tellSaved(report); };
  saver.emplace(context.communicator, std::move(options));
  context.executor.setBeforeWrites([this] { saver->awaitCopy(); });
  if (context.config.checkpoint.takesSnapshots() && !hasSnapshot(context.executor.executable()))
    context.log.warning("checkpoint.asynchronous: this program was compiled without room for a copy of its "
                        "variables, so training waits for each save. Compile it again: weft compile RUN.yaml "
                        "-o RUN.weft");
}

/// Whether any rank was asked to stop.
absl::StatusOr<bool> Trainer::meet() {
  std::array<int32_t, 2> said = {context.stopRequested() ? 1 : 0, saver->isBusy() ? 1 : 0};
  if (absl::Status status = context.communicator.allReduce(std::as_writable_bytes(std::span(said)),
                                                           DType::I32, ReduceKind::Max);
      !status.ok())
    return status;
  if (said[1] == 0)
    if (absl::Status status = saver->advance(); !status.ok())
      return status;
  return said[0] != 0;
}

absl::Status Trainer::save(bool isLast) {
  if (absl::Status status = saver->finish(); !status.ok()) // its copy is where the next one will be
    return status;
  const bool waits =
      isLast || !context.config.checkpoint.asynchronous || !hasSnapshot(context.executor.executable());
  const int64_t rank = context.communicator.rank();
  const auto start = std::chrono::steady_clock::now();
  std::function<void()> copy;
  if (!waits)
    copy = [this, rank] { copyToSnapshot(context.executor, rank, context.saving.copy); };
  if (absl::Status status =
          saver->begin(makeState(progress, context.identity, context.config),
                       waits ? variableViews(context.executor, rank) : snapshotViews(context.executor, rank),
                       std::move(copy), start);
      !status.ok())
    return status;
  return waits ? saver->finish() : absl::OkStatus();
}

/// The run ends with `status`. Where all ranks end so after the same step, they first finish the save at
/// work, which loses nothing; and where there is one rank, it does always.
absl::Status Trainer::endSave(absl::Status status) {
  if (status.ok() || !(isEndOfAll(status) || context.communicator.size() == 1))
    return status;
  if (absl::Status saving = saver->finish(); !saving.ok())
    context.log.warning(std::string(saving.message()));
  return status;
}

void Trainer::tellSaved(const SaveReport &report) {
  saved = untoldSave = report;
  if (report.step < context.config.train.steps)
    context.log.line(absl::StrFormat("saved %s (%.1f s, training waited %.2f s)",
                                     checkpoint::stepFolder(context.folder.checkpoints(), report.step),
                                     report.seconds, report.waited));
}

/// Of the save that became whole since the last line.
void Trainer::addSaveMetrics(StepMetrics &record) {
  if (!untoldSave)
    return;
  record.others.emplace_back("save_seconds", untoldSave->seconds);
  record.others.emplace_back("save_wait_seconds", untoldSave->waited);
  untoldSave.reset();
}

} // namespace weft
