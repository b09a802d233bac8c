//===- FileSystem.cpp - The system calls that a checkpoint is made of -----===//
//
// Each function hands its arguments to the kernel and turns -1 into -errno. Idea: what can be tried in a test
// is decided in FileSystem.h; here there is nothing left to go wrong.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/FileSystem.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>

#include <dirent.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace weft::checkpoint {
namespace {
template <typename Result> Result orError(Result result) {
  return result < 0 ? static_cast<Result>(-errno) : result;
}
} // namespace

int FileSystem::open(const std::string &path, int flags, mode_t mode) {
  return orError(::open(path.c_str(), flags, mode));
}

int FileSystem::close(int descriptor) { return orError(::close(descriptor)); }

int64_t FileSystem::write(int descriptor, const void *data, size_t size) {
  return orError<int64_t>(::write(descriptor, data, size));
}

int64_t FileSystem::pread(int descriptor, void *data, size_t size, int64_t offset) {
  return orError<int64_t>(::pread(descriptor, data, size, offset));
}

int FileSystem::fsync(int descriptor) { return orError(::fsync(descriptor)); }

int FileSystem::startWriteback(int descriptor, int64_t offset, int64_t size) {
  return orError(::sync_file_range(descriptor, offset, size, SYNC_FILE_RANGE_WRITE));
}

int FileSystem::mkdir(const std::string &path, mode_t mode) { return orError(::mkdir(path.c_str(), mode)); }

int FileSystem::rename(const std::string &from, const std::string &to) {
  return orError(::rename(from.c_str(), to.c_str()));
}

int FileSystem::exchange(const std::string &first, const std::string &second) {
  return orError(::renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_EXCHANGE));
}

int FileSystem::unlink(const std::string &path) { return orError(::unlink(path.c_str())); }

int FileSystem::rmdir(const std::string &path) { return orError(::rmdir(path.c_str())); }

int FileSystem::lstat(const std::string &path, struct stat &result) {
  return orError(::lstat(path.c_str(), &result));
}

int FileSystem::list(const std::string &folder, std::vector<std::string> &names) {
  names.clear();
  DIR *stream = ::opendir(folder.c_str());
  if (!stream)
    return -errno;
  errno = 0;
  while (const dirent *entry = ::readdir(stream)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..")
      names.push_back(std::move(name));
    errno = 0;
  }
  const int error = errno;
  ::closedir(stream);
  std::sort(names.begin(), names.end());
  return -error;
}

int64_t FileSystem::freeBytes(const std::string &path) {
  struct statvfs result;
  if (::statvfs(path.c_str(), &result) < 0)
    return -errno;
  const auto free = static_cast<unsigned __int128>(result.f_bavail) * result.f_frsize;
  constexpr auto most = std::numeric_limits<int64_t>::max();
  return free > static_cast<unsigned __int128>(most) ? most : static_cast<int64_t>(free);
}

FileSystem &systemFiles() {
  static FileSystem files;
  return files;
}

} // namespace weft::checkpoint
