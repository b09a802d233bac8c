//===- FileSystem.h - The system calls that a checkpoint is made of -------===//
//
// Every system call of this folder that can change a disk goes through this class, one virtual function per
// call, so that a subclass can fail or kill the process at the N-th write, fsync or rename and each point of
// a save can be tried in turn. Nothing is interpreted here: short transfers and EINTR reach the caller
// (FileOperations.h).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_FILESYSTEM_H
#define WEFT_RUNTIME_CHECKPOINT_FILESYSTEM_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>

namespace weft::checkpoint {

/// Each function is the system call of its name. The result is that of the call, or -errno; 0 where the call
/// has nothing to say. Thread safe.
class FileSystem {
public:
  virtual ~FileSystem() = default;

  virtual int open(const std::string &path, int flags, mode_t mode);
  virtual int close(int descriptor);
  /// May write fewer bytes than asked for.
  virtual int64_t write(int descriptor, const void *data, size_t size);
  /// May read fewer bytes than asked for; 0 at the end of the file.
  virtual int64_t pread(int descriptor, void *data, size_t size, int64_t offset);
  virtual int fsync(int descriptor);
  /// Asks the kernel to begin writing a range of the file to disk, so that fsync finds little left. Only a
  /// hint.
  virtual int startWriteback(int descriptor, int64_t offset, int64_t size);
  virtual int mkdir(const std::string &path, mode_t mode);
  virtual int rename(const std::string &from, const std::string &to);
  /// Swaps two existing paths in one atomic step (renameat2 with RENAME_EXCHANGE); -EINVAL or -ENOSYS where
  /// the file system cannot.
  virtual int exchange(const std::string &first, const std::string &second);
  virtual int unlink(const std::string &path);
  virtual int rmdir(const std::string &path);
  /// Does not follow a symbolic link at the end of the path.
  virtual int lstat(const std::string &path, struct stat &result);
  /// The names in a folder, without `.` and `..`, sorted.
  virtual int list(const std::string &folder, std::vector<std::string> &names);
  /// Bytes that an unprivileged user can still write to the file system of `path`.
  virtual int64_t freeBytes(const std::string &path);
};

/// The machine's own file system.
FileSystem &systemFiles();

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_FILESYSTEM_H
