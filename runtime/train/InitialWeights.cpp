//===- InitialWeights.cpp - What a new run's parameters come from ---------===//
//
// A checkpoint must hold the model's parameters and no others: of a larger one, a part would be a model that
// nobody trained.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/InitialWeights.h"

#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/config/HuggingFaceConfig.h"
#include "runtime/executable/Parts.h"
#include "runtime/interchange/ParameterNames.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/Resume.h"
#include "runtime/train/VariableState.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace weft {
namespace {

using checkpoint::Checkpoint;
using interchange::FolderParameters;
using interchange::HuggingFaceFolder;

constexpr char kKey[] = "checkpoint.initial_load_path";

interchange::Parameters parametersOf(const std::vector<Executable> &parts) {
  interchange::Parameters parameters;
  for (const Variable *variable : variablesOf(parts))
    if (!variable->isState)
      parameters.emplace_back(variable->checkpointName, globalType(*variable));
  return parameters;
}

absl::Status checkParameters(const Checkpoint &checkpoint, const interchange::Parameters &parameters) {
  std::vector<std::string> differences;
  for (const auto &[name, type] : parameters)
    if (const checkpoint::TensorRecord *saved = checkpoint.find(name); !saved || saved->type != type)
      differences.push_back(absl::StrCat(name, ": ", type.str(), " in the program, ",
                                         saved ? saved->type.str() : "absent", " in the checkpoint"));
  for (const checkpoint::TensorRecord &saved : checkpoint.tensors())
    if (interchange::isParameter(saved.name) &&
        std::none_of(parameters.begin(), parameters.end(),
                     [&](const auto &parameter) { return parameter.first == saved.name; }))
      differences.push_back(
          absl::StrCat(saved.name, ": absent in the program, ", saved.type.str(), " in the checkpoint"));
  if (differences.empty())
    return absl::OkStatus();
  std::string text =
      absl::StrCat(kKey, ": ", checkpoint.folder(), " holds another model, ", differences.size(),
                   differences.size() == 1 ? " tensor differs:" : " tensors differ:");
  for (const std::string &difference : differences)
    absl::StrAppend(&text, "\n  ", difference);
  absl::StrAppend(&text, "\nGive this run the model that it was saved with, or another path.");
  return absl::FailedPreconditionError(text);
}

/// What the run that saved the checkpoint has otherwise; known where its config is.
void tellDifferences(const Checkpoint &checkpoint, const Config &config, uint64_t tokenizer, RunLog &log) {
  const auto &text = checkpoint.state().text;
  if (absl::StatusOr<Config> saved = savedConfig(checkpoint); saved.ok())
    for (const std::string &difference :
         modelDifferences(config.model, "this run", saved->model, checkpoint.folder()))
      log.warning(absl::StrCat(kKey, ": ", difference));
  if (const auto checksum = text.find("tokenizer");
      checksum != text.end() && checksum->second != absl::StrFormat("%016x", tokenizer))
    log.warning(absl::StrCat(kKey, ": ", checkpoint.folder(),
                             " was trained with another tokenizer: ids mean other texts"));
}

absl::StatusOr<FolderParameters> openFolder(const Config &config, interchange::Parameters parameters,
                                            RunLog &log) {
  absl::StatusOr<HuggingFaceFolder> folder = HuggingFaceFolder::open(config.checkpoint.initialLoadPath);
  if (!folder.ok())
    return folder.status();
  if (config.model.program.empty()) {
    absl::StatusOr<std::vector<std::string>> differences =
        interchange::folderDifferences(*folder, config.model, "this run");
    if (!differences.ok())
      return differences.status();
    for (const std::string &difference : *differences)
      log.warning(absl::StrCat(kKey, ": ", difference));
  }
  absl::StatusOr<FolderParameters> source =
      FolderParameters::match(*std::move(folder), std::move(parameters));
  if (source.ok())
    for (const std::string &note : source->notes())
      log.line(absl::StrCat(kKey, ": ", note));
  return source;
}

absl::StatusOr<Checkpoint> openCheckpoint(const Config &config, const interchange::Parameters &parameters,
                                          uint64_t tokenizer, RunLog &log) {
  std::vector<std::string> broken;
  absl::StatusOr<Checkpoint> checkpoint = checkpoint::openMeant(config.checkpoint.initialLoadPath, broken);
  for (const std::string &message : broken)
    log.warning(message);
  if (!checkpoint.ok())
    return checkpoint.status();
  if (absl::Status status = checkParameters(*checkpoint, parameters); !status.ok())
    return status;
  tellDifferences(*checkpoint, config, tokenizer, log);
  return checkpoint;
}

} // namespace

absl::StatusOr<InitialWeights> InitialWeights::open(const Config &config,
                                                    const std::vector<Executable> &parts, uint64_t tokenizer,
                                                    RunLog &log) {
  interchange::Parameters parameters = parametersOf(parts);
  if (interchange::isHuggingFaceFolder(config.checkpoint.initialLoadPath)) {
    absl::StatusOr<FolderParameters> folder = openFolder(config, std::move(parameters), log);
    if (!folder.ok())
      return withExitCode(folder.status(), ExitCode::Checkpoint);
    return InitialWeights(Source(*std::move(folder)));
  }
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(config, parameters, tokenizer, log);
  if (!checkpoint.ok())
    return withExitCode(checkpoint.status(), ExitCode::Checkpoint);
  return InitialWeights(Source(*std::move(checkpoint)));
}

std::string InitialWeights::path() const {
  const auto *folder = std::get_if<FolderParameters>(&source);
  return folder ? folder->folder().path() : std::get<Checkpoint>(source).folder();
}

absl::Status InitialWeights::restore(Executor &executor, int64_t rank, ThreadPool &threads) const {
  if (const auto *checkpoint = std::get_if<Checkpoint>(&source))
    return restoreVariables(executor, *checkpoint, /*weightsOnly=*/true, rank, threads).status();
  const auto &folder = std::get<FolderParameters>(source);
  const std::vector<Variable> &variables = executor.executable().variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Variable &variable = variables[i];
    if (variable.isState)
      continue;
    const checkpoint::Slice slice = sliceOf(executor.executable().mesh, variable, rank);
    if (absl::Status status =
            folder.readSlice(variable.checkpointName, slice, variable.type.shape, executor.variable(i).bytes);
        !status.ok())
      return withExitCode(status, ExitCode::Checkpoint);
  }
  return absl::OkStatus();
}

} // namespace weft
