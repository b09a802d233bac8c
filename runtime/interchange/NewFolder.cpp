//===- NewFolder.cpp - A folder that appears when it is whole -------------===//
//
// The free space is compared before anything is written; where the file system does not tell it, the write
// that no longer fits does.
//
//===----------------------------------------------------------------------===//
#include "runtime/interchange/NewFolder.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace weft::interchange {

using namespace checkpoint;

absl::StatusOr<NewFolder> NewFolder::create(const std::string &path, int64_t bytes, FileSystem &files) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/')
    name.pop_back();
  absl::StatusOr<PathKind> kind = pathKind(files, name);
  if (!kind.ok())
    return kind.status();
  if (name.empty() || *kind != PathKind::Absent)
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": ", name.empty() ? "the output has no name" : "is there already",
                     ". Move it away, or choose another name with -o."));
  const std::string parent = parentFolder(name);
  if (absl::Status status = createFolders(files, parent); !status.ok())
    return status;
  NewFolder folder(name, files);
  if (absl::Status status = removeTree(files, folder.part); !status.ok())
    return status;
  if (const int64_t free = files.freeBytes(parent); free >= 0 && free < bytes)
    return diskFull(folder.part, bytes, free);
  if (const int made = files.mkdir(folder.part, 0777); made < 0)
    return fileError(-made, "create the folder", folder.part);
  return folder;
}

NewFolder::NewFolder(NewFolder &&other) noexcept
    : final(std::move(other.final)), part(std::exchange(other.part, std::string())), files(other.files) {}

NewFolder::~NewFolder() {
  // What cannot be removed is removed by the next try; the cause of it all is what counts.
  if (!part.empty())
    removeTree(*files, part).IgnoreError();
}

absl::Status NewFolder::publish() {
  if (absl::Status status = syncFolder(*files, part); !status.ok())
    return status;
  if (absl::Status status = moveDurably(*files, part, final); !status.ok())
    return status;
  release();
  return absl::OkStatus();
}

} // namespace weft::interchange
