//===- AtomicFile.cpp - A file that appears whole or not at all -----------===//
//
// The lock is taken on the temporary file itself. Between its open and its lock another process may have
// renamed it away; so the lock counts only when the name still leads to the locked file.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/AtomicFile.h"

#include "runtime/data/FileError.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weft {
namespace {

constexpr size_t bufferBytes = size_t{4} << 20;

bool nameLeadsTo(const std::string &path, int descriptor) {
  struct stat named;
  struct stat opened;
  return ::stat(path.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

} // namespace

absl::StatusOr<AtomicFile> AtomicFile::create(const std::string &path) {
  absl::StatusOr<AtomicFile> file = resume(path);
  if (!file.ok())
    return file.status();
  if (absl::Status status = file->truncate(0); !status.ok())
    return status;
  return file;
}

absl::StatusOr<AtomicFile> AtomicFile::resume(const std::string &path) {
  std::string temporaryPath = path + ".tmp";
  absl::StatusOr<int> descriptor = openLocked(temporaryPath);
  if (!descriptor.ok())
    return descriptor.status();
  int64_t size = ::lseek(*descriptor, 0, SEEK_END);
  if (size < 0) {
    int error = errno;
    ::close(*descriptor);
    return fileError(temporaryPath, "seek", error);
  }
  return AtomicFile(path, *descriptor, size);
}

AtomicFile::AtomicFile(std::string path, int descriptor, int64_t size)
    : path(std::move(path)), temporaryPath(this->path + ".tmp"), descriptor(descriptor),
      buffer(new char[bufferBytes]), written(size) {}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : path(std::move(other.path)), temporaryPath(std::move(other.temporaryPath)),
      descriptor(std::exchange(other.descriptor, -1)), buffer(std::move(other.buffer)),
      buffered(other.buffered), written(other.written), isKept(other.isKept) {}

AtomicFile::~AtomicFile() {
  if (descriptor < 0)
    return;
  if (!isKept)
    ::unlink(temporaryPath.c_str());
  ::close(descriptor);
}

absl::Status AtomicFile::append(const void *data, size_t size) {
  const char *from = static_cast<const char *>(data);
  while (size != 0) {
    size_t part = std::min(size, bufferBytes - buffered);
    std::memcpy(buffer.get() + buffered, from, part);
    buffered += part;
    from += part;
    size -= part;
    if (buffered == bufferBytes)
      if (absl::Status status = flush(); !status.ok())
        return status;
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::flush() {
  if (absl::Status status = writeAll(buffer.get(), buffered); !status.ok())
    return status;
  // The disk starts on these bytes now, so that sync() at the end has little left to wait for. A file system
  // that cannot be told so loses nothing but time.
  ::sync_file_range(descriptor, written, static_cast<int64_t>(buffered), SYNC_FILE_RANGE_WRITE);
  written += static_cast<int64_t>(std::exchange(buffered, 0));
  return absl::OkStatus();
}

absl::Status AtomicFile::read(int64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    ssize_t count = ::pread(descriptor, out.data(), out.size(), offset);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fileError(temporaryPath, "read", errno);
    if (count == 0)
      return absl::OutOfRangeError(absl::StrCat(temporaryPath, ": ends at byte ", offset));
    offset += count;
    out = out.subspan(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::truncate(int64_t size) {
  if (::ftruncate(descriptor, size) != 0)
    return fileError(temporaryPath, "truncate", errno);
  if (::lseek(descriptor, size, SEEK_SET) < 0)
    return fileError(temporaryPath, "seek", errno);
  written = size;
  return absl::OkStatus();
}

absl::Status AtomicFile::writeAll(const char *data, size_t size) {
  while (size != 0) {
    ssize_t count = ::write(descriptor, data, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fileError(temporaryPath, "write", errno);
    data += count;
    size -= static_cast<size_t>(count);
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::sync() {
  if (absl::Status status = flush(); !status.ok())
    return status;
  if (::fsync(descriptor) != 0)
    return fileError(temporaryPath, "sync to the disk", errno);
  return absl::OkStatus();
}

absl::Status AtomicFile::commit() {
  if (absl::Status status = sync(); !status.ok())
    return status;
  if (std::rename(temporaryPath.c_str(), path.c_str()) != 0)
    return fileError(path, "put the finished file in place", errno);
  ::close(std::exchange(descriptor, -1));
  return syncFolderOf(path);
}

absl::StatusOr<int> openLocked(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    if (errno == ENOENT)
      return absl::NotFoundError(absl::StrCat(std::filesystem::path(path).parent_path().string(),
                                              ": the folder to write into does not exist"));
    return fileError(path, "create", errno);
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 || !nameLeadsTo(path, descriptor)) {
    ::close(descriptor);
    return absl::AbortedError(absl::StrCat(path, ": another process is writing it. Wait until it is done."));
  }
  return descriptor;
}

absl::Status syncFolderOf(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty())
    folder = ".";
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return fileError(folder, "open", errno);
  int error = ::fsync(descriptor) != 0 ? errno : 0;
  ::close(descriptor);
  // Some file systems cannot sync a folder and say so; there a rename is as durable as it gets.
  if (error != 0 && error != EINVAL)
    return fileError(folder, "sync to the disk", error);
  return absl::OkStatus();
}

} // namespace weft
