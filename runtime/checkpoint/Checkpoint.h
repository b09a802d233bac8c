//===- Checkpoint.h - A saved checkpoint, open for reading ----------------===//
//
// Opening reads the manifest and looks at the size of each file: a checkpoint that opens is whole. Reading
// slices of tensors touches the blocks of files that hold some of them, whatever the mesh that wrote them,
// and holds each against its checksum; what comes out is what was saved, or an error; every error ends a
// process with the exit code of checkpoints.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define WEFT_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "kernels/common/ThreadPool.h"
#include "runtime/checkpoint/FileSystem.h"
#include "runtime/checkpoint/Manifest.h"

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::checkpoint {

/// A slice of a saved tensor, and its place: the front corner of a dense tensor of shape `memory`, which in
/// no dimension is smaller. `into` is exactly as large as that tensor.
struct SliceRequest {
  std::string name;
  Slice slice;
  std::vector<int64_t> memory;
  std::span<std::byte> into;
};

class Checkpoint {
public:
  /// The folder, as it was given to openCheckpoint.
  const std::string &folder() const { return path; }
  const CheckpointState &state() const { return contents.state; }
  /// Sorted by name.
  const std::vector<TensorRecord> &tensors() const { return contents.tensors; }
  const std::vector<FileRecord> &files() const { return contents.files; }
  /// A checksum each is of so many bytes of a file; 0: of version 1, where each is of a piece of a tensor.
  int64_t blockBytes() const { return contents.blockBytes; }
  /// Null when there is none of that name.
  const TensorRecord *find(const std::string &name) const;
  /// The sum of all tensors' bytes.
  int64_t tensorBytes() const;

  /// Fails unless the checkpoint holds exactly these tensors with these types (global shapes), and lists
  /// every difference.
  absl::Status checkTensors(const std::vector<std::pair<std::string, TensorType>> &expected) const;

  /// Fills `into`, exactly as large as the tensor, with its dense bytes, and verifies their checksums.
  /// Several threads may read at once. After an error the contents of `into` are unspecified.
  absl::Status read(const std::string &name, std::span<std::byte> into) const;

  /// Fills the front corner of the memory of each request with its slice; the rest of the memory stays as it
  /// is. Reads the blocks that hold some of the slices, each once, and no others, and verifies their
  /// checksums, by this many threads together. The places share no memory. Returns how many bytes of files
  /// were read.
  absl::StatusOr<int64_t> readSlices(const std::vector<SliceRequest> &requests, ThreadPool &threads) const;

  /// Reads every byte: each checksum, and each sound file's header against the manifest. One line for each
  /// problem.
  std::vector<std::string> verify() const;

private:
  friend absl::StatusOr<Checkpoint> openCheckpoint(const std::string &, FileSystem &);
  Checkpoint(std::string path, FileSystem &system, Manifest contents);
  absl::Status checkRequest(const SliceRequest &wanted) const;
  void checkHeader(const FileRecord &file, std::vector<std::string> &problems) const;

  std::string path;
  FileSystem *system;
  Manifest contents;
  absl::flat_hash_map<std::string, size_t> index;
};

/// Opens one checkpoint (`.../checkpoints/step-300`). NotFound: no such folder. DataLoss: it is not whole.
/// Unimplemented: written by a version that this one does not know.
absl::StatusOr<Checkpoint> openCheckpoint(const std::string &folder, FileSystem &files = systemFiles());

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_CHECKPOINT_H
