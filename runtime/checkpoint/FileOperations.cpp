//===- FileOperations.cpp - Files and folders with errors worth reading ---===//
//
// Guarantees that a transfer is complete or reported, that EINTR is never an error, and that a failed fsync
// is never tried again (the kernel may have dropped the pages that it could not write, and would then report
// success).
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/FileOperations.h"

#include "runtime/support/FormatCount.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>

namespace weft::checkpoint {
namespace {
/// Appends below this size are gathered; a gathered write has this size. Also the unit of a transfer.
constexpr size_t kBufferBytes = size_t{1} << 20;
/// Writing to disk is begun after each such stretch, so that the disk works while the next one is copied.
constexpr int64_t kWritebackBytes = int64_t{8} << 20;

template <typename Call> auto untilNotInterrupted(Call call) {
  auto result = call();
  while (result == -EINTR)
    result = call();
  return result;
}

std::string_view remedyFor(int error) {
  switch (error) {
  case EACCES:
  case EPERM:
    return "Give this user the permission, or choose another folder.";
  case EROFS:
    return "The file system is mounted read-only: choose another folder.";
  case ENOSPC:
  case EDQUOT:
    return "Free some space, or lower checkpoint.keep_latest.";
  case EIO:
    return "The disk reports a fault: see the kernel's log, and use another disk.";
  case EMFILE:
  case ENFILE:
    return "Raise the limit of open files (ulimit -n).";
  case ENOENT:
    return "Check the path.";
  case ENOTDIR:
  case EISDIR:
  case EEXIST:
    return "Something of another kind has that name: move it away.";
  default:
    return "Nothing that was saved before is touched.";
  }
}

absl::StatusCode codeFor(int error) {
  switch (error) {
  case EACCES:
  case EPERM:
  case EROFS:
    return absl::StatusCode::kPermissionDenied;
  case ENOSPC:
  case EDQUOT:
    return absl::StatusCode::kResourceExhausted;
  case ENOENT:
    return absl::StatusCode::kNotFound;
  case ENOTDIR:
  case EISDIR:
  case EEXIST:
    return absl::StatusCode::kFailedPrecondition;
  default:
    return absl::StatusCode::kUnavailable;
  }
}
} // namespace

absl::Status fileError(int error, std::string_view action, const std::string &path) {
  const char *cause = ::strerrordesc_np(error);
  return absl::Status(codeFor(error),
                      absl::StrCat(path, ": cannot ", absl::string_view(action.data(), action.size()), ": ",
                                   cause ? cause : "unknown error", ". ",
                                   absl::string_view(remedyFor(error).data(), remedyFor(error).size())));
}

absl::Status diskFull(const std::string &path, int64_t needed, int64_t free) {
  return absl::ResourceExhaustedError(
      absl::StrCat(path, ": the disk is full: ", formatCount(needed), " bytes needed, ", formatCount(free),
                   " free. Free some space, or lower checkpoint.keep_latest."));
}

OutputFile::OutputFile(FileSystem &files, std::string path, int descriptor, int64_t expectedBytes)
    : files(&files), path(std::move(path)), descriptor(descriptor), expectedBytes(expectedBytes),
      buffer(new std::byte[kBufferBytes]) {}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : files(other.files), path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)),
      expectedBytes(other.expectedBytes), written(other.written), writebackAt(other.writebackAt),
      buffer(std::move(other.buffer)), buffered(std::exchange(other.buffered, 0)) {}

OutputFile::~OutputFile() {
  if (descriptor >= 0)
    files->close(descriptor);
}

absl::StatusOr<OutputFile> OutputFile::create(FileSystem &files, const std::string &path,
                                              int64_t expectedBytes) {
  const int descriptor =
      untilNotInterrupted([&] { return files.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); });
  if (descriptor < 0)
    return fileError(-descriptor, "create the file", path);
  return OutputFile(files, path, descriptor, expectedBytes);
}

absl::Status OutputFile::writeFully(const std::byte *data, size_t size) {
  while (size > 0) {
    const int64_t count =
        untilNotInterrupted([&] { return files->write(descriptor, data, std::min(size, kBufferBytes)); });
    if (count == -ENOSPC || count == -EDQUOT)
      return diskFull(path, std::max(expectedBytes, written + static_cast<int64_t>(size)) - written,
                      std::max<int64_t>(0, files->freeBytes(parentFolder(path))));
    if (count < 0)
      return fileError(static_cast<int>(-count), "write", path);
    if (count == 0) // No file does that; looping on it would never end.
      return fileError(EIO, "write", path);
    data += count;
    size -= static_cast<size_t>(count);
    written += count;
    if (written - writebackAt >= kWritebackBytes) {
      files->startWriteback(descriptor, writebackAt, written - writebackAt);
      writebackAt = written;
    }
  }
  return absl::OkStatus();
}

absl::Status OutputFile::flush() {
  const size_t size = std::exchange(buffered, 0);
  return writeFully(buffer.get(), size);
}

absl::Status OutputFile::append(const void *data, size_t size) {
  if (size > kBufferBytes - buffered) {
    if (absl::Status status = flush(); !status.ok())
      return status;
    if (size >= kBufferBytes)
      return writeFully(static_cast<const std::byte *>(data), size);
  }
  if (size > 0)
    std::memcpy(buffer.get() + buffered, data, size);
  buffered += size;
  return absl::OkStatus();
}

absl::Status OutputFile::finish() {
  if (absl::Status status = flush(); !status.ok())
    return status;
  const int synced = untilNotInterrupted([&] { return files->fsync(descriptor); });
  if (synced == -ENOSPC || synced == -EDQUOT)
    return diskFull(path, expectedBytes, std::max<int64_t>(0, files->freeBytes(parentFolder(path))));
  if (synced < 0)
    return fileError(-synced, "write to the disk", path);
  // After EINTR Linux has closed the descriptor all the same.
  const int closed = files->close(std::exchange(descriptor, -1));
  if (closed < 0 && closed != -EINTR)
    return fileError(-closed, "close", path);
  return absl::OkStatus();
}

InputFile::InputFile(FileSystem &files, std::string path, int descriptor, int64_t size)
    : files(&files), path(std::move(path)), descriptor(descriptor), size(size) {}

InputFile::InputFile(InputFile &&other) noexcept
    : files(other.files), path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)),
      size(other.size) {}

InputFile::~InputFile() {
  if (descriptor >= 0)
    files->close(descriptor);
}

absl::StatusOr<InputFile> InputFile::open(FileSystem &files, const std::string &path) {
  const int descriptor =
      untilNotInterrupted([&] { return files.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0); });
  if (descriptor < 0)
    return fileError(-descriptor, "open", path);
  struct stat about;
  const bool known = ::fstat(descriptor, &about) == 0;
  InputFile file(files, path, descriptor, known ? about.st_size : 0);
  if (!known || !S_ISREG(about.st_mode))
    return absl::FailedPreconditionError(absl::StrCat(path, ": not a regular file. Check the path."));
  return file;
}

absl::Status InputFile::read(int64_t offset, void *data, size_t size) const {
  auto *to = static_cast<std::byte *>(data);
  while (size > 0) {
    const int64_t count = untilNotInterrupted([&] { return files->pread(descriptor, to, size, offset); });
    if (count < 0)
      return fileError(static_cast<int>(-count), "read", path);
    if (count == 0)
      return absl::DataLossError(absl::StrCat(path, ": the file ends at byte ", offset, ", ", size,
                                              " bytes too early: it was cut short. Use another checkpoint."));
    to += count;
    size -= static_cast<size_t>(count);
    offset += count;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> readFile(FileSystem &files, const std::string &path, int64_t mostBytes) {
  absl::StatusOr<InputFile> file = InputFile::open(files, path);
  if (!file.ok())
    return file.status();
  if (file->bytes() > mostBytes)
    return absl::DataLossError(absl::StrCat(path, ": ", formatCount(file->bytes()),
                                            " bytes are more than the ", formatCount(mostBytes),
                                            " that such a file can have. Use another checkpoint."));
  std::string text(static_cast<size_t>(file->bytes()), '\0');
  if (absl::Status status = file->read(0, text.data(), text.size()); !status.ok())
    return status;
  return text;
}

absl::StatusOr<PathKind> pathKind(FileSystem &files, const std::string &path) {
  struct stat about;
  const int result = files.lstat(path, about);
  if (result == -ENOENT || result == -ENOTDIR)
    return PathKind::Absent;
  if (result < 0)
    return fileError(-result, "look at", path);
  if (S_ISREG(about.st_mode))
    return PathKind::File;
  return S_ISDIR(about.st_mode) ? PathKind::Folder : PathKind::Other;
}

absl::StatusOr<int64_t> fileBytes(FileSystem &files, const std::string &path) {
  struct stat about;
  const int result = files.lstat(path, about);
  if (result < 0)
    return fileError(-result, "look at", path);
  if (!S_ISREG(about.st_mode))
    return absl::FailedPreconditionError(absl::StrCat(path, ": not a regular file. Check the path."));
  return static_cast<int64_t>(about.st_size);
}

absl::StatusOr<std::vector<std::string>> listFolder(FileSystem &files, const std::string &folder) {
  std::vector<std::string> names;
  const int result = files.list(folder, names);
  if (result < 0)
    return fileError(-result, "list the folder", folder);
  return names;
}

absl::Status createFolders(FileSystem &files, const std::string &folder) {
  absl::StatusOr<PathKind> kind = pathKind(files, folder);
  if (!kind.ok())
    return kind.status();
  if (*kind == PathKind::Folder ||
      *kind == PathKind::Other) // Other: a link to a folder, or mkdir's next use says.
    return absl::OkStatus();
  if (*kind == PathKind::File)
    return fileError(ENOTDIR, "create the folder", folder);
  const std::string parent = parentFolder(folder);
  if (parent != folder)
    if (absl::Status status = createFolders(files, parent); !status.ok())
      return status;
  const int made = files.mkdir(folder, 0777);
  if (made == -EEXIST)
    return absl::OkStatus();
  if (made < 0)
    return fileError(-made, "create the folder", folder);
  return syncFolder(files, parent);
}

absl::Status syncFolder(FileSystem &files, const std::string &folder) {
  const int descriptor =
      untilNotInterrupted([&] { return files.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0); });
  if (descriptor < 0)
    return fileError(-descriptor, "open the folder", folder);
  const int synced = untilNotInterrupted([&] { return files.fsync(descriptor); });
  files.close(descriptor);
  if (synced < 0)
    return fileError(-synced, "write the folder to the disk", folder);
  return absl::OkStatus();
}

absl::Status removeTree(FileSystem &files, const std::string &path) {
  absl::StatusOr<PathKind> kind = pathKind(files, path);
  if (!kind.ok())
    return kind.status();
  if (*kind == PathKind::Absent)
    return absl::OkStatus();
  if (*kind != PathKind::Folder) {
    const int removed = files.unlink(path);
    return removed < 0 && removed != -ENOENT ? fileError(-removed, "remove", path) : absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> names = listFolder(files, path);
  if (!names.ok())
    return names.status();
  for (const std::string &name : *names)
    if (absl::Status status = removeTree(files, absl::StrCat(path, "/", name)); !status.ok())
      return status;
  const int removed = files.rmdir(path);
  return removed < 0 && removed != -ENOENT ? fileError(-removed, "remove the folder", path)
                                           : absl::OkStatus();
}

absl::Status moveDurably(FileSystem &files, const std::string &from, const std::string &to) {
  const int moved = files.rename(from, to);
  if (moved < 0)
    return fileError(-moved, absl::StrCat("rename to ", to), from);
  return syncFolder(files, parentFolder(to));
}

absl::Status exchangeDurably(FileSystem &files, const std::string &first, const std::string &second) {
  const int exchanged = files.exchange(first, second);
  if (exchanged == -EINVAL || exchanged == -ENOSYS || exchanged == -ENOTSUP)
    return absl::FailedPreconditionError(absl::StrCat(
        second, ": exists, and this file system cannot replace a folder in one step. Move it away, "
                "then go on."));
  if (exchanged < 0)
    return fileError(-exchanged, absl::StrCat("exchange with ", first), second);
  return syncFolder(files, parentFolder(second));
}

std::string parentFolder(const std::string &path) {
  const size_t last = path.find_last_not_of('/');
  if (last == std::string::npos)
    return path.empty() ? "." : "/";
  const size_t slash = path.find_last_of('/', last);
  if (slash == std::string::npos)
    return ".";
  const size_t end = path.find_last_not_of('/', slash);
  return end == std::string::npos ? "/" : path.substr(0, end + 1);
}

} // namespace weft::checkpoint
