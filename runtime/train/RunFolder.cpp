//===- RunFolder.cpp - Where everything of one run lies -------------------===//
//
// The folders are made at the start, so that a place that cannot be written is told before the first step.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/RunFolder.h"

#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <filesystem>
#include <system_error>

namespace weft {

std::string RunFolder::log(int rank) const {
  return rank == 0 ? path + "/log.txt" : absl::StrCat(path, "/log-", rank, ".txt");
}

std::string RunFolder::dump(int64_t step) const {
  return absl::StrCat(dumps(), "/step-", step, ".safetensors");
}

absl::Status makeFolders(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return withExitCode(
        absl::PermissionDeniedError(absl::StrCat(path, ": the folder cannot be made: ", error.message())),
        ExitCode::Checkpoint);
  return absl::OkStatus();
}

absl::StatusOr<RunFolder> makeRunFolder(const std::string &runs, const std::string &name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    return withExitCode(absl::InvalidArgumentError(absl::StrCat(
                            "--name: '", name, "' is not the name of a folder. --runs says where it lies.")),
                        ExitCode::Config);
  RunFolder folder{runs + "/" + name};
  for (const std::string &path : {folder.programFolder(), folder.checkpoints()})
    if (absl::Status status = makeFolders(path); !status.ok())
      return status;
  return folder;
}

std::string defaultRunName(const std::string &file) { return std::filesystem::path(file).stem().string(); }

std::string dataCache(const std::string &runs) { return runs + "/.data"; }

} // namespace weft
