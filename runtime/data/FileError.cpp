//===- FileError.cpp - What a failed system call says ---------------------===//
//
// The status code follows the cause, so that callers can tell a missing file from a full disk.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/FileError.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>

namespace weft {

absl::Status fileError(const std::string &file, const std::string &action, int error) {
  if (error == ENOENT)
    return absl::NotFoundError(absl::StrCat(file, ": no such file"));
  std::string message = absl::StrCat(file, ": cannot ", action, ": ", std::strerror(error));
  switch (error) {
  case EACCES:
  case EPERM:
  case EROFS:
    return absl::PermissionDeniedError(
        absl::StrCat(message, ". Check the permissions of the file and its folder."));
  case ENOSPC:
  case EDQUOT:
    return absl::ResourceExhaustedError(absl::StrCat(message, ". Free space there, or write elsewhere."));
  default:
    return absl::UnavailableError(message);
  }
}

} // namespace weft
