//===- HuggingFaceFolder.h - Weights as save_pretrained leaves them -------===//
//
// A folder with config.json and the weights in safetensors: one file, or several with an index. Opening reads
// and checks every header, and holds the index against them; no tensor's bytes are read before they are asked
// for, and then through a buffer of one stretch, whatever the size of the tensor. Nothing is ever changed.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_INTERCHANGE_HUGGINGFACEFOLDER_H
#define WEFT_RUNTIME_INTERCHANGE_HUGGINGFACEFOLDER_H

#include "runtime/checkpoint/FileOperations.h"
#include "runtime/checkpoint/SafetensorsHeader.h"
#include "runtime/checkpoint/StoredElements.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace weft::interchange {

inline constexpr char kConfigFile[] = "config.json";
inline constexpr char kWeightsFile[] = "model.safetensors";
inline constexpr char kIndexFile[] = "model.safetensors.index.json";

/// A tensor of a folder. Its entry's byte range is in file number `file`.
struct FolderTensor {
  checkpoint::SafetensorsEntry entry;
  size_t file = 0;

  int64_t elements() const;
  /// As messages print it: 32x8 BF16.
  std::string typeText() const;
};

class HuggingFaceFolder {
public:
  /// NotFound: no folder, or none with weights. DataLoss: files that are damaged or do not agree.
  static absl::StatusOr<HuggingFaceFolder> open(const std::string &path,
                                                checkpoint::FileSystem &files = checkpoint::systemFiles());

  const std::string &path() const { return folder; }
  /// The path of config.json; empty when the folder has none.
  const std::string &config() const { return configPath; }
  /// Sorted by name.
  const std::vector<FolderTensor> &tensors() const { return contents; }
  /// Null when there is none of that name.
  const FolderTensor *find(const std::string &name) const;
  const std::string &fileOf(const FolderTensor &tensor) const { return paths[tensor.file]; }
  /// The sum of all tensors' bytes.
  int64_t tensorBytes() const;

  /// Reads bytes of a tensor, counted from its first. Several threads may read at once.
  absl::Status readBytes(const FolderTensor &tensor, int64_t begin, std::span<std::byte> into) const;
  /// Reads `count` elements from the `first` on, in row-major order, as `type`. Both types are floats.
  absl::StatusOr<checkpoint::FloatChanges> readFloats(const FolderTensor &tensor, int64_t first,
                                                      int64_t count, DType type, std::byte *into) const;

private:
  HuggingFaceFolder() = default;
  absl::Status addFile(const std::string &path, checkpoint::FileSystem &system);
  absl::Status openIndexed(checkpoint::FileSystem &system);

  std::string folder, configPath;
  std::vector<std::string> paths;
  std::vector<checkpoint::InputFile> opened;
  std::vector<FolderTensor> contents;
};

/// Whether a path means such a folder: it has config.json or weights under the names above, and is no
/// checkpoint of weft.
bool isHuggingFaceFolder(const std::string &path, checkpoint::FileSystem &files = checkpoint::systemFiles());

} // namespace weft::interchange

#endif // WEFT_RUNTIME_INTERCHANGE_HUGGINGFACEFOLDER_H
