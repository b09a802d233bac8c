//===- CheckpointSaver.cpp - One checkpoint from all ranks ----------------===//
//
// Between any two parts of a save the ranks agree that the one before it worked: nobody writes into a folder
// that is not there, and the folder of a failed save is removed when nobody writes into it any more. To
// create the folder is so little that it happens at once. On one rank there is nothing to agree on: a save is
// one piece of work.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/CheckpointSaver.h"

#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/checkpoint/FileOperations.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/RankAgreement.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <memory>
#include <system_error>
#include <utility>

namespace weft {

using namespace checkpoint;

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

CheckpointSaver::CheckpointSaver(Communicator &theCommunicator, Options theOptions)
    : communicator(theCommunicator), options(std::move(theOptions)) {}

CheckpointSaver::~CheckpointSaver() {
  isGivenUp = communicator.size() > 1;
  if (work.valid())
    work.wait();
}

absl::Status CheckpointSaver::begin(CheckpointState ofStep, std::vector<TensorView> ownedByRank,
                                    std::function<void()> theCopy, Clock::time_point since) {
  if (stage != Stage::None)
    return absl::FailedPreconditionError(absl::StrCat("checkpoint: a save of step ", ofStep.step,
                                                      " begins while that of step ", state.step,
                                                      " is at work"));
  begun = since;
  report = {ofStep.step, 0, 0};
  state = std::move(ofStep);
  owned = std::move(ownedByRank);
  record.clear();
  copy = std::move(theCopy);
  communicator.enter(Phase::Save, state.step);
  if (communicator.size() == 1) {
    start(Stage::Committing, afterCopy([this] { return saveAlone(); }));
  } else {
    if (absl::Status status = beginShared(); !status.ok())
      return withExitCode(status, ExitCode::Checkpoint);
    start(Stage::Writing, afterCopy([this] { return writeOwned(); }));
  }
  report.waited = secondsSince(begun);
  return absl::OkStatus();
}

void CheckpointSaver::awaitCopy() {
  if (!copying.valid())
    return;
  const Clock::time_point since = Clock::now();
  copying.wait();
  copying = {};
  report.waited += secondsSince(since);
}

bool CheckpointSaver::isBusy() const {
  return work.valid() && work.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

absl::Status CheckpointSaver::advance() {
  if (stage == Stage::None)
    return absl::OkStatus();
  const Clock::time_point since = Clock::now();
  communicator.enter(Phase::Save, report.step);
  absl::Status status = goOn();
  report.waited += secondsSince(since);
  if (status.ok() && stage == Stage::None)
    status = tell();
  return withExitCode(status, ExitCode::Checkpoint);
}

/// A rank that waits holds up all others: the longest times count.
absl::Status CheckpointSaver::tell() {
  std::array<double, 2> times = {report.waited, secondsSince(begun)};
  if (absl::Status status =
          communicator.allReduce(std::as_writable_bytes(std::span(times)), DType::F64, ReduceKind::Max);
      !status.ok())
    return status;
  report.waited = times[0], report.seconds = times[1];
  options.saved(report);
  return absl::OkStatus();
}

absl::Status CheckpointSaver::finish() {
  while (stage != Stage::None)
    if (absl::Status status = advance(); !status.ok())
      return status;
  return absl::OkStatus();
}

//===-- On the training thread, by all ranks ------------------------------===//

absl::Status CheckpointSaver::agree(const absl::Status &mine) {
  return agreeOn(communicator, withExitCode(mine, ExitCode::Checkpoint));
}

void CheckpointSaver::start(Stage next, std::function<absl::Status()> task) {
  stage = next;
  try {
    work = std::async(std::launch::async, std::move(task));
  } catch (const std::system_error &error) {
    std::promise<absl::Status> refused;
    refused.set_value(absl::ResourceExhaustedError(
        absl::StrCat("checkpoint: the thread that saves cannot be started: ", error.what())));
    work = refused.get_future();
  }
}

/// A task whose thread does not start ends the wait for its copy all the same.
std::function<absl::Status()> CheckpointSaver::afterCopy(std::function<absl::Status()> task) {
  auto copied = std::make_shared<std::promise<void>>();
  copying = copied->get_future();
  return [this, copied, task = std::move(task)] {
    if (copy)
      copy();
    copied->set_value();
    return task();
  };
}

/// What comes before any rank writes.
absl::Status CheckpointSaver::beginShared() {
  if (bytesOfAll < 0) {
    int64_t bytes = 0;
    for (const TensorView &tensor : owned)
      bytes += tensor.type.bytes();
    if (absl::Status status =
            communicator.allReduce(std::as_writable_bytes(std::span(&bytes, 1)), DType::I64, ReduceKind::Sum);
        !status.ok())
      return status;
    bytesOfAll = bytes;
  }
  return agree(leads() ? beginSave(options.checkpoints, state.step, bytesOfAll, *options.save.files).status()
                       : absl::OkStatus());
}

/// Ends the stage at hand, and begins the next.
absl::Status CheckpointSaver::goOn() {
  const absl::Status mine = work.valid() ? work.get() : absl::OkStatus();
  const Stage ended = std::exchange(stage, Stage::None);
  return ended == Stage::Writing ? endWriting(mine) : agree(mine);
}

absl::Status CheckpointSaver::endWriting(const absl::Status &mine) {
  absl::Status status = agree(mine);
  if (status.ok()) {
    absl::StatusOr<std::vector<std::string>> written = gatherTexts(communicator, record);
    status = written.status();
    if (status.ok() && !leads()) // the next meeting waits for rank 0
      stage = Stage::Committing;
    else if (status.ok())
      start(Stage::Committing, [this, all = *std::move(written)] { return commit(all); });
  }
  // What cannot be removed is ignored by readers and removed by the next start; the cause is what counts.
  if (!status.ok() && leads())
    removeTree(*options.save.files, temporaryFolder(options.checkpoints, state.step)).IgnoreError();
  return status;
}

//===-- On the thread that saves ------------------------------------------===//

absl::Status CheckpointSaver::saveAlone() {
  if (absl::Status status = options.before(); !status.ok())
    return status;
  return saveCheckpoint(options.checkpoints, state, owned, options.save);
}

absl::Status CheckpointSaver::writeOwned() {
  if (leads())
    if (absl::Status status = options.before(); !status.ok())
      return status;
  if (owned.empty())
    return absl::OkStatus();
  absl::StatusOr<RankRecord> written = writeRank(temporaryFolder(options.checkpoints, state.step),
                                                 communicator.rank(), owned, *options.save.files, &isGivenUp);
  if (!written.ok())
    return written.status();
  absl::StatusOr<std::string> text = formatRankRecord(*written);
  if (!text.ok())
    return text.status();
  record = *std::move(text);
  return absl::OkStatus();
}

/// Makes one checkpoint of what all ranks wrote. On rank 0.
absl::Status CheckpointSaver::commit(const std::vector<std::string> &written) {
  FileSystem &files = *options.save.files;
  const std::string temporary = temporaryFolder(options.checkpoints, state.step);
  std::vector<RankRecord> records;
  for (const std::string &text : written) {
    if (text.empty())
      continue;
    absl::StatusOr<RankRecord> parsed = parseRankRecord(text);
    if (!parsed.ok())
      return parsed.status();
    records.push_back(*std::move(parsed));
  }
  if (absl::Status status = commitSave(temporary, state, records, files); !status.ok()) {
    removeTree(files, temporary).IgnoreError();
    return status;
  }
  return removeOlder(options.checkpoints, state.step, options.save);
}

} // namespace weft
