//===- AtomicFile.h - A file that appears whole or not at all -------------===//
//
// Bytes go to `PATH.tmp` in large writes; commit() syncs them and renames. Whoever dies before leaves only
// the temporary file, which the next attempt overwrites or, where it can tell what it holds, continues. The
// temporary file is locked while it is written, so two processes cannot interleave in it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_ATOMICFILE_H
#define WEFT_RUNTIME_DATA_ATOMICFILE_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace weft {

class AtomicFile {
public:
  static absl::StatusOr<AtomicFile> create(const std::string &path);
  /// The same, but what the temporary file already holds stays in it, and size() counts it.
  static absl::StatusOr<AtomicFile> resume(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  /// Removes the temporary file unless commit() renamed it or keep() was called.
  ~AtomicFile();

  absl::Status append(const void *data, size_t size);

  /// All bytes appended are in the temporary file when it returns: the death of this process loses none.
  absl::Status flush();

  /// Reads bytes [offset, offset + out.size()) of what is flushed.
  absl::Status read(int64_t offset, std::span<std::byte> out) const;

  /// Cuts the file after `size` of its bytes, all of which are flushed.
  absl::Status truncate(int64_t size);

  /// Whether the temporary file outlives this object, for resume().
  void keep(bool kept = true) { isKept = kept; }

  /// All bytes appended are on the disk when it returns, still under the temporary name.
  absl::Status sync();

  /// sync(), rename to the final path, sync of the folder. Nothing may be appended afterwards.
  absl::Status commit();

  /// Bytes appended so far.
  int64_t size() const { return written + static_cast<int64_t>(buffered); }

private:
  AtomicFile(std::string path, int descriptor, int64_t size);
  absl::Status writeAll(const char *data, size_t size);

  std::string path;
  std::string temporaryPath;
  int descriptor;
  std::unique_ptr<char[]> buffer;
  size_t buffered = 0;
  int64_t written;
  bool isKept = false;
};

/// Opens `path` for reading and writing, made if need be, and locks it until the descriptor is closed.
/// Aborted when another process holds it.
absl::StatusOr<int> openLocked(const std::string &path);

/// Makes renames and removals inside the folder of `path` durable.
absl::Status syncFolderOf(const std::string &path);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_ATOMICFILE_H
