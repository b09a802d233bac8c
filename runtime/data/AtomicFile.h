//===- AtomicFile.h - A file that appears whole or not at all -------------===//
//
// Bytes go to `PATH.tmp` in large writes; commit() syncs them and renames. Whoever dies before leaves only
// the temporary file, which the next attempt overwrites. The temporary file is locked while it is written, so
// two processes cannot interleave in it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_ATOMICFILE_H
#define WEFT_RUNTIME_DATA_ATOMICFILE_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace weft {

class AtomicFile {
public:
  static absl::StatusOr<AtomicFile> create(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  /// Removes the temporary file unless commit() renamed it.
  ~AtomicFile();

  absl::Status append(const void *data, size_t size);

  /// All bytes appended are on the disk when it returns, still under the temporary name.
  absl::Status sync();

  /// sync(), rename to the final path, sync of the folder. Nothing may be appended afterwards.
  absl::Status commit();

  /// Bytes appended so far.
  int64_t size() const { return written + static_cast<int64_t>(buffered); }

private:
  AtomicFile(std::string path, int descriptor);
  absl::Status flush();
  absl::Status writeAll(const char *data, size_t size);

  std::string path;
  std::string temporaryPath;
  int descriptor;
  std::unique_ptr<char[]> buffer;
  size_t buffered = 0;
  int64_t written = 0;
};

/// Makes renames and removals inside the folder of `path` durable.
absl::Status syncFolderOf(const std::string &path);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_ATOMICFILE_H
