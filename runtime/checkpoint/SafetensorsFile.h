//===- SafetensorsFile.h - Tensors by name, in one file -------------------===//
//
// Reading maps the file into memory after its header passed every rule of the format, and hands out the
// tensors' bytes where they lie. Writing streams tensors from the caller's memory in the order of the layout:
// no copy, and the same tensors give the same bytes (no time, no path).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_SAFETENSORSFILE_H
#define WEFT_RUNTIME_CHECKPOINT_SAFETENSORSFILE_H

#include "runtime/checkpoint/Blocks.h"
#include "runtime/checkpoint/FileOperations.h"
#include "runtime/checkpoint/SafetensorsHeader.h"

#include "absl/container/flat_hash_map.h"

#include <atomic>
#include <span>

namespace weft::checkpoint {

/// The header of an open safetensors file, which passed every rule of the format. `path` names it in
/// messages.
absl::StatusOr<SafetensorsHeader> readSafetensorsHeader(const InputFile &file, const std::string &path);

/// A safetensors file for reading. The file may not be cut short while it is open (reading a mapped page that
/// is gone kills the process); a checkpoint's files never change once they have their name.
class SafetensorsFile {
public:
  static absl::StatusOr<SafetensorsFile> open(FileSystem &files, const std::string &path);
  SafetensorsFile(SafetensorsFile &&other) noexcept;
  SafetensorsFile &operator=(SafetensorsFile &&) = delete;
  ~SafetensorsFile();

  const SafetensorsHeader &header() const { return contents; }
  /// Null when the file has no such tensor.
  const SafetensorsEntry *find(const std::string &name) const;
  /// The bytes of an entry of `header()`, valid while this object lives. Aligned to the element size in files
  /// that weft wrote, to nothing in others.
  std::span<const std::byte> bytes(const SafetensorsEntry &entry) const;

private:
  SafetensorsFile() = default;

  SafetensorsHeader contents;
  absl::flat_hash_map<std::string, size_t> index;
  const std::byte *mapping = nullptr; ///< The whole file.
};

/// A safetensors file being written.
class SafetensorsWriter {
public:
  /// Creates the file and writes the header. The byte ranges of `entries` are computed here.
  static absl::StatusOr<SafetensorsWriter> create(FileSystem &files, const std::string &path,
                                                  std::vector<SafetensorsEntry> entries,
                                                  std::map<std::string, std::string> metadata);

  /// The entries in the order in which `write` expects their bytes, with their byte ranges.
  const std::vector<SafetensorsEntry> &entries() const { return header.entries; }
  /// The file's final size.
  int64_t bytes() const { return header.dataEnd; }
  /// Writes all bytes of the next entry. Cancelled once `stop` is true.
  absl::Status write(std::span<const std::byte> data, const std::atomic<bool> *stop = nullptr);
  /// The same in parts: the next bytes of the next entry, and, when all have come, its end.
  absl::Status append(std::span<const std::byte> part, const std::atomic<bool> *stop = nullptr);
  absl::Status endEntry();
  /// Returns once all is on the disk: the blocks of the file. Every entry must have been written.
  absl::StatusOr<std::vector<Block>> finish();

private:
  SafetensorsWriter(std::string path, SafetensorsHeader header, OutputFile file);
  absl::Status checkNext() const;
  absl::Status wrongSize(int64_t given) const;
  int64_t nextBytes() const { return header.entries[next].end - header.entries[next].begin; }

  std::string path;
  SafetensorsHeader header;
  OutputFile file;
  size_t next = 0;
  int64_t written = 0; ///< of the next entry
  BlockChecksums blocks;
};

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_SAFETENSORSFILE_H
