//===- FileText.cpp - Reading files and writing them atomically -----------===//
//
// POSIX calls, each retried on EINTR and each error turned into a status with the file's name.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/FileText.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

namespace {
/// Closes its descriptor.
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return number; }

private:
  int number;
};
} // namespace

static absl::Status fileError(const std::string &path, absl::string_view action, int error) {
  std::string message = absl::StrCat(path, ": ", action, ": ", std::strerror(error));
  switch (error) {
  case ENOENT:
  case ENOTDIR:
    return absl::NotFoundError(message);
  case EACCES:
  case EPERM:
  case EROFS:
    return absl::PermissionDeniedError(message);
  default:
    return absl::DataLossError(message);
  }
}

absl::StatusOr<std::string> readFileText(const std::string &path, size_t maxBytes) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0)
    return fileError(path, "cannot be opened", errno);
  struct stat info{};
  if (::fstat(file.get(), &info) != 0)
    return fileError(path, "cannot be read", errno);
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));

  std::string content;
  char block[1 << 16];
  for (;;) {
    ssize_t count = ::read(file.get(), block, sizeof(block));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fileError(path, "cannot be read", errno);
    if (count == 0)
      return content;
    if (content.size() + static_cast<size_t>(count) > maxBytes)
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": has ", info.st_size, " bytes, at most ", maxBytes, " are read"));
    content.append(block, static_cast<size_t>(count));
  }
}

/// Opens the temporary sibling of `path` and locks it until the descriptor is closed; waits for whoever
/// writes it. What a killed writer left there is the next one's to write over. While the lock was waited for,
/// the file may have become `path` itself: so the lock counts only when the name still leads to what is
/// locked.
static int openTemporary(const std::string &temporary) {
  for (;;) {
    int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0)
      return descriptor;
    int locked = 0;
    while ((locked = ::flock(descriptor, LOCK_EX)) != 0 && errno == EINTR) {
    }
    struct stat opened{};
    struct stat named{};
    if (locked == 0 && ::fstat(descriptor, &opened) == 0 && ::stat(temporary.c_str(), &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
      return descriptor;
    int error = errno;
    ::close(descriptor);
    if (locked != 0) {
      errno = error;
      return -1;
    }
  }
}

/// Makes `content` all that the open file holds, on the disk.
static absl::Status writeAndFlush(int file, const std::string &path, std::string_view content) {
  if (::ftruncate(file, 0) != 0)
    return fileError(path, "cannot be written", errno);
  while (!content.empty()) {
    ssize_t count = ::write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fileError(path, "cannot be written", errno);
    content.remove_prefix(static_cast<size_t>(count));
  }
  if (::fsync(file) != 0)
    return fileError(path, "cannot be flushed to the disk", errno);
  return absl::OkStatus();
}

/// A rename is on the disk once its folder is.
static absl::Status flushFolderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0 || ::fsync(descriptor.get()) != 0)
    return fileError(folder, "cannot be flushed to the disk", errno);
  return absl::OkStatus();
}

absl::Status writeFileAtomically(const std::string &path, std::string_view content) {
  std::string temporary = path + ".tmp";
  Descriptor file(openTemporary(temporary));
  if (file.get() < 0)
    return fileError(path, "cannot be created", errno);
  absl::Status status = writeAndFlush(file.get(), path, content);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = fileError(path, "cannot be replaced", errno);
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return flushFolderOf(path);
}

} // namespace weft
