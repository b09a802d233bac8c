//===- CheckpointFolders.cpp - The folder that holds a run's checkpoints --===//
//
// Only names of the exact form step-N are ever read as checkpoints, and only those with the endings above are
// ever removed: whatever else a person keeps in the folder is left alone.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/checkpoint/FileOperations.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>

namespace weft::checkpoint {
namespace {
constexpr std::string_view kTemporary = ".tmp";
constexpr std::string_view kTrash = ".trash";

/// N of a name that is exactly `step-N` followed by `ending`.
std::optional<int64_t> stepOf(std::string_view name, std::string_view ending) {
  constexpr std::string_view start = "step-";
  if (name.size() <= start.size() + ending.size() || name.substr(0, start.size()) != start ||
      name.substr(name.size() - ending.size()) != ending)
    return std::nullopt;
  const std::string digits(name.substr(start.size(), name.size() - start.size() - ending.size()));
  int64_t step = 0;
  if (!absl::SimpleAtoi(digits, &step) || std::to_string(step) != digits || step < 0)
    return std::nullopt;
  return step;
}

/// The steps that have a folder with this ending, ascending. None when `checkpoints` does not exist.
absl::StatusOr<std::vector<int64_t>> stepsWith(std::string_view ending, const std::string &checkpoints,
                                               FileSystem &files) {
  absl::StatusOr<PathKind> kind = pathKind(files, checkpoints);
  if (!kind.ok())
    return kind.status();
  std::vector<int64_t> steps;
  if (*kind == PathKind::Absent)
    return steps;
  absl::StatusOr<std::vector<std::string>> names = listFolder(files, checkpoints);
  if (!names.ok())
    return names.status();
  for (const std::string &name : *names)
    if (const std::optional<int64_t> step = stepOf(name, ending))
      steps.push_back(*step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::string folderOf(const std::string &checkpoints, int64_t step, std::string_view ending) {
  return absl::StrCat(checkpoints, "/step-", step, absl::string_view(ending.data(), ending.size()));
}

/// Opens a step's folder; one whose manifest tells another step was renamed by hand, and counts as broken.
absl::StatusOr<Checkpoint> openStep(const std::string &checkpoints, int64_t step, FileSystem &files) {
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(stepFolder(checkpoints, step), files);
  if (checkpoint.ok() && checkpoint->state().step != step)
    return absl::DataLossError(absl::StrCat(checkpoint->folder(),
                                            ": broken checkpoint: its manifest is of step ",
                                            checkpoint->state().step, ". Rename the folder."));
  return checkpoint;
}

absl::Status deleteStep(const std::string &checkpoints, int64_t step, FileSystem &files) {
  const std::string trash = folderOf(checkpoints, step, kTrash);
  if (absl::Status status = removeTree(files, trash); !status.ok())
    return status;
  if (absl::Status status = moveDurably(files, stepFolder(checkpoints, step), trash); !status.ok())
    return status;
  return removeTree(files, trash);
}
} // namespace

std::string stepFolder(const std::string &checkpoints, int64_t step) {
  return folderOf(checkpoints, step, "");
}

std::string temporaryFolder(const std::string &checkpoints, int64_t step) {
  return folderOf(checkpoints, step, kTemporary);
}

absl::StatusOr<LatestCheckpoint> findLatest(const std::string &checkpoints, FileSystem &files) {
  absl::StatusOr<std::vector<int64_t>> steps = stepsWith("", checkpoints, files);
  if (!steps.ok())
    return withExitCode(steps.status(), ExitCode::Checkpoint);
  LatestCheckpoint latest;
  for (size_t i = steps->size(); i-- > 0;) {
    absl::StatusOr<Checkpoint> checkpoint = openStep(checkpoints, (*steps)[i], files);
    if (checkpoint.ok()) {
      latest.checkpoint = *std::move(checkpoint);
      break;
    }
    // NotFound: a file, not a folder, has the name; or another job is deleting it.
    if (!absl::IsDataLoss(checkpoint.status()) && !absl::IsNotFound(checkpoint.status()))
      return checkpoint.status();
    latest.broken.emplace_back(checkpoint.status().message());
  }
  return latest;
}

absl::StatusOr<std::vector<std::string>> stepFolders(const std::string &checkpoints, FileSystem &files) {
  absl::StatusOr<std::vector<int64_t>> steps = stepsWith("", checkpoints, files);
  if (!steps.ok())
    return steps.status();
  std::vector<std::string> folders;
  for (int64_t step : *steps)
    folders.push_back(stepFolder(checkpoints, step));
  return folders;
}

absl::StatusOr<std::optional<std::string>> checkpointsAt(const std::string &path, FileSystem &files) {
  absl::StatusOr<PathKind> kind = pathKind(files, path + "/.");
  if (!kind.ok())
    return kind.status();
  if (*kind != PathKind::Folder)
    return std::nullopt;
  kind = pathKind(files, absl::StrCat(path, "/", kManifestName));
  if (!kind.ok())
    return kind.status();
  if (*kind != PathKind::Absent)
    return std::nullopt;
  for (const std::string &folder : {path + "/checkpoints", path}) {
    absl::StatusOr<std::vector<int64_t>> steps = stepsWith("", folder, files);
    if (!steps.ok())
      return steps.status();
    if (!steps->empty())
      return folder;
  }
  return std::nullopt;
}

absl::StatusOr<Checkpoint> openMeant(const std::string &path, std::vector<std::string> &broken,
                                     FileSystem &files) {
  absl::StatusOr<std::optional<std::string>> folder = checkpointsAt(path, files);
  if (!folder.ok())
    return folder.status();
  if (!*folder)
    return openCheckpoint(path, files);
  absl::StatusOr<LatestCheckpoint> latest = findLatest(**folder, files);
  if (!latest.ok())
    return latest.status();
  broken = latest->broken;
  if (!latest->checkpoint)
    return absl::DataLossError(absl::StrCat(**folder, ": none of its checkpoints is whole"));
  return *std::move(latest->checkpoint);
}

absl::StatusOr<std::vector<std::string>> cleanLeftovers(const std::string &checkpoints, FileSystem &files) {
  std::vector<std::string> removed;
  for (std::string_view ending : {kTemporary, kTrash}) {
    absl::StatusOr<std::vector<int64_t>> steps = stepsWith(ending, checkpoints, files);
    if (!steps.ok())
      return withExitCode(steps.status(), ExitCode::Checkpoint);
    for (int64_t step : *steps) {
      removed.push_back(folderOf(checkpoints, step, ending));
      if (absl::Status status = removeTree(files, removed.back()); !status.ok())
        return withExitCode(status, ExitCode::Checkpoint);
    }
  }
  return removed;
}

absl::Status keepLatest(const std::string &checkpoints, int64_t saved, int64_t count, int64_t every,
                        FileSystem &files) {
  if (count <= 0)
    return absl::OkStatus();
  absl::StatusOr<std::vector<int64_t>> steps = stepsWith("", checkpoints, files);
  if (!steps.ok())
    return steps.status();
  std::vector<int64_t> whole;
  for (int64_t step : *steps)
    if (step < saved && openStep(checkpoints, step, files).ok())
      whole.push_back(step);
  for (size_t i = 0; i + static_cast<size_t>(count) - 1 < whole.size(); ++i) {
    if (every > 0 && whole[i] % every == 0)
      continue;
    if (absl::Status status = deleteStep(checkpoints, whole[i], files); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace weft::checkpoint
