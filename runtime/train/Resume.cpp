//===- Resume.cpp - Going on where a run stopped --------------------------===//
//
// The state holds no time and no path of the run: equal runs have equal checkpoints.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/Resume.h"

#include "runtime/config/ConfigLoader.h"
#include "runtime/config/ResumeComparison.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <filesystem>

namespace weft {
namespace {

using checkpoint::Checkpoint;

std::string nameOf(const Checkpoint &checkpoint) {
  return std::filesystem::path(checkpoint.folder()).filename().string();
}

absl::Status broken(const Checkpoint &checkpoint, const std::string &what) {
  return withExitCode(absl::DataLossError(absl::StrCat(checkpoint.folder(), ": ", what)),
                      ExitCode::Checkpoint);
}

std::string checksumText(uint64_t checksum) { return absl::StrFormat("%016x", checksum); }

absl::Status checkChecksum(const Checkpoint &checkpoint, const std::string &key, uint64_t current,
                           const std::string &meaning) {
  auto saved = checkpoint.state().text.find(key);
  if (saved == checkpoint.state().text.end())
    return broken(checkpoint, absl::StrCat("its manifest has no '", key, "'"));
  if (saved->second == checksumText(current))
    return absl::OkStatus();
  return withExitCode(
      absl::FailedPreconditionError(absl::StrCat(
          "resume: ", meaning, " (checksum ", checksumText(current), ", in checkpoint ", nameOf(checkpoint),
          " ", saved->second, "). Bring the old ones back, or start a new run with another --name.")),
      ExitCode::Data);
}

} // namespace

absl::StatusOr<Config> savedConfig(const Checkpoint &checkpoint) {
  auto text = checkpoint.state().text.find("config");
  if (text == checkpoint.state().text.end())
    return broken(checkpoint, "its manifest has no 'config'");
  absl::StatusOr<LoadedConfig> loaded =
      loadConfigText(text->second, checkpoint.folder() + "/manifest.json: config", "/");
  if (!loaded.ok())
    return loaded.status();
  return loaded->config;
}

absl::StatusOr<std::optional<Checkpoint>> findResumePoint(const std::string &checkpoints,
                                                          const Config &config, RunLog &log) {
  absl::StatusOr<std::vector<std::string>> removed = checkpoint::cleanLeftovers(checkpoints);
  if (!removed.ok())
    return removed.status();
  for (const std::string &name : *removed)
    log.line(absl::StrCat("removed ", name, ", left by a job that was cut off"));
  absl::StatusOr<checkpoint::LatestCheckpoint> latest = checkpoint::findLatest(checkpoints);
  if (!latest.ok())
    return latest.status();
  for (const std::string &message : latest->broken)
    log.warning(message);
  if (!latest->checkpoint)
    return std::optional<Checkpoint>();
  absl::StatusOr<Config> saved = savedConfig(*latest->checkpoint);
  if (!saved.ok())
    return saved.status();
  std::vector<ResumeDifference> differences = compareForResume(*saved, config);
  if (absl::Status status = refusalOf(differences, nameOf(*latest->checkpoint)); !status.ok())
    return status;
  for (const ResumeDifference &difference : differences)
    log.line(difference.message(nameOf(*latest->checkpoint)));
  return std::move(latest->checkpoint);
}

absl::Status checkIdentity(const Checkpoint &checkpoint, const RunIdentity &identity) {
  if (absl::Status status = checkChecksum(checkpoint, "tokenizer", identity.tokenizerChecksum,
                                          "the tokenizer is another than that of the checkpoint");
      !status.ok())
    return status;
  return checkChecksum(checkpoint, "data", identity.dataChecksum,
                       "the data are others than those of the checkpoint: samples would be trained on twice "
                       "or never");
}

absl::StatusOr<Progress> savedProgress(const Checkpoint &checkpoint) {
  Progress progress{checkpoint.state().step, {}};
  const nlohmann::json &values = checkpoint.state().values;
  auto losses = values.find("recent_losses");
  if (losses == values.end())
    return progress;
  if (!losses->is_array())
    return broken(checkpoint, "'recent_losses' in its manifest is no list");
  for (const nlohmann::json &loss : *losses) {
    if (!loss.is_number())
      return broken(checkpoint, "'recent_losses' in its manifest holds something that is no number");
    progress.recentLosses.push_back(loss.get<double>());
  }
  return progress;
}

checkpoint::CheckpointState makeState(const Progress &progress, const RunIdentity &identity,
                                      const Config &config) {
  checkpoint::CheckpointState state;
  state.step = progress.step;
  state.text = {{"config", identity.config},
                {"tokenizer", checksumText(identity.tokenizerChecksum)},
                {"data", checksumText(identity.dataChecksum)}};
  if (!identity.mesh.empty())
    state.text["mesh"] = identity.mesh;
  state.values = {{"seed", config.train.seed},
                  {"consumed_samples", progress.step * config.train.globalBatch},
                  {"consumed_tokens", progress.step * config.train.globalBatch * config.data.sequenceLength}};
  if (!progress.recentLosses.empty())
    state.values["recent_losses"] = progress.recentLosses;
  return state;
}

} // namespace weft
