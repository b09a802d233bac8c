//===- FileOperations.h - Files and folders with errors worth reading -----===//
//
// What the rest of this folder does to a disk: write a file whole, read a range of one, make, list, sync,
// move and remove folders. Interrupted and short transfers are carried on; every other failure is a Status
// that names the path, the cause and the remedy (for a full disk: the bytes needed and those free).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_FILEOPERATIONS_H
#define WEFT_RUNTIME_CHECKPOINT_FILEOPERATIONS_H

#include "runtime/checkpoint/FileSystem.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::checkpoint {

/// `PATH: cannot ACTION: CAUSE. REMEDY` with the status code that fits the errno.
absl::Status fileError(int error, std::string_view action, const std::string &path);
/// The error of a disk too small for `needed` bytes, of which `free` are there.
absl::Status diskFull(const std::string &path, int64_t needed, int64_t free);

/// A file being written from its start to its end. Small pieces are gathered; large ones go to the kernel as
/// they are, without a copy. Destroying it before `finish` closes it and leaves the incomplete file to the
/// caller.
class OutputFile {
public:
  /// Creates the file, or empties the one there is. `expectedBytes`: its final size, for the message on a
  /// full disk.
  static absl::StatusOr<OutputFile> create(FileSystem &files, const std::string &path, int64_t expectedBytes);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  absl::Status append(const void *data, size_t size);
  /// Writes what is gathered, waits until the disk holds all (fsync), and closes.
  absl::Status finish();

private:
  OutputFile(FileSystem &files, std::string path, int descriptor, int64_t expectedBytes);
  absl::Status writeFully(const std::byte *data, size_t size);
  absl::Status flush();

  FileSystem *files;
  std::string path;
  int descriptor;
  int64_t expectedBytes;
  int64_t written = 0;     ///< Bytes handed to the kernel.
  int64_t writebackAt = 0; ///< Bytes for which writing to disk was begun.
  std::unique_ptr<std::byte[]> buffer;
  size_t buffered = 0;
};

/// A file open for reading ranges of it.
class InputFile {
public:
  static absl::StatusOr<InputFile> open(FileSystem &files, const std::string &path);
  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&) = delete;
  ~InputFile();

  /// Fills `data` from `offset` on; a file that ends before is an error.
  absl::Status read(int64_t offset, void *data, size_t size) const;
  int64_t bytes() const { return size; }
  int descriptorForMapping() const { return descriptor; }

private:
  InputFile(FileSystem &files, std::string path, int descriptor, int64_t size);

  FileSystem *files;
  std::string path;
  int descriptor;
  int64_t size;
};

/// The whole of a file of at most `mostBytes` bytes.
absl::StatusOr<std::string> readFile(FileSystem &files, const std::string &path, int64_t mostBytes);

enum class PathKind { Absent, File, Folder, Other };
absl::StatusOr<PathKind> pathKind(FileSystem &files, const std::string &path);
absl::StatusOr<int64_t> fileBytes(FileSystem &files, const std::string &path);
/// The names in a folder, sorted.
absl::StatusOr<std::vector<std::string>> listFolder(FileSystem &files, const std::string &folder);

/// Creates the folder and the missing ones above it; each new name is on the disk when this returns.
absl::Status createFolders(FileSystem &files, const std::string &folder);
/// Waits until the disk holds the folder's list of names.
absl::Status syncFolder(FileSystem &files, const std::string &folder);
/// Removes a file, or a folder with all in it; links are removed, not followed. Absent is fine.
absl::Status removeTree(FileSystem &files, const std::string &path);
/// Renames `from`, then syncs the folder that holds both. `to` does not exist, or is an empty folder.
absl::Status moveDurably(FileSystem &files, const std::string &from, const std::string &to);
/// Swaps two folders in one step, then syncs the folder that holds both.
absl::Status exchangeDurably(FileSystem &files, const std::string &first, const std::string &second);

/// The folder of a path: `a/b` -> `a`, `b` -> `.`.
std::string parentFolder(const std::string &path);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_FILEOPERATIONS_H
