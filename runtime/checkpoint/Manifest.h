//===- Manifest.h - What a checkpoint folder holds ------------------------===//
//
// `manifest.json` is written last, so its presence says that the folder is whole. It names every file with
// its size and the checksums of its blocks, every tensor with its global shape and where each of its slices
// lies, and carries the run's state as the trainer gave it. Its first line holds format, version and a
// checksum of all that follows: a damaged manifest is never taken for a sound one. Equal contents give equal
// bytes. Version 2 is written; version 1, which had a checksum for each slice, is read.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_MANIFEST_H
#define WEFT_RUNTIME_CHECKPOINT_MANIFEST_H

#include "kernels/common/Types.h"
#include "runtime/checkpoint/Blocks.h"
#include "runtime/checkpoint/Pieces.h"

#include "absl/status/statusor.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::checkpoint {

constexpr int64_t kManifestVersion = 2;
constexpr const char *kManifestName = "manifest.json";
/// 100,000 tensors on 64 ranks stay below; the blocks of 10 TB add 610 MB.
constexpr int64_t kMostManifestBytes = int64_t{1} << 30;

/// What a run must know to go on, besides tensors. This library stores both maps and looks into neither.
struct CheckpointState {
  int64_t step = 0;                                 ///< Steps of the run that are done; names the folder.
  std::map<std::string, std::string> text;          ///< Resolved config, hashes, ...
  nlohmann::json values = nlohmann::json::object(); ///< Counters and the like; an object, no NaN or infinity.

  bool operator==(const CheckpointState &) const = default;
};

struct FileRecord {
  std::string name;
  int64_t bytes = 0;
  std::vector<Block> blocks; ///< Ascending; they hold every byte of every piece.
  bool operator==(const FileRecord &) const = default;
};

/// Where one slice of a tensor lies.
struct PieceRecord {
  std::string file;
  Slice slice;
  int64_t begin = 0; ///< Byte range [begin, end) of the file.
  int64_t end = 0;
  bool operator==(const PieceRecord &) const = default;
};

struct TensorRecord {
  std::string name;
  TensorType type; ///< Global shape.
  std::string
      placement; ///< How the run that saved it had placed it, as the compiler prints it; empty on one device.
  std::vector<PieceRecord> pieces;
  bool operator==(const TensorRecord &) const = default;
};

struct Manifest {
  CheckpointState state;
  /// Of all files; 0: version 1, where each piece is a block of its own.
  int64_t blockBytes = kBlockBytes;
  std::vector<FileRecord> files;     ///< Sorted by name.
  std::vector<TensorRecord> tensors; ///< Sorted by name.
  bool operator==(const Manifest &) const = default;
};

/// What one rank wrote; the ranks' records together become the manifest.
struct RankRecord {
  FileRecord file;
  std::vector<TensorRecord> tensors; ///< One piece each.
  bool operator==(const RankRecord &) const = default;
};

/// A rank's record as text, on its way to the rank that writes the manifest, and back. Fails when a name is
/// not UTF-8.
absl::StatusOr<std::string> formatRankRecord(const RankRecord &record);
absl::StatusOr<RankRecord> parseRankRecord(const std::string &text);

/// The text of `manifest.json`, of version 2: `blockBytes` is not 0. Fails when the state does not survive
/// JSON (a non-finite number, text that is not UTF-8), naming the key, or the text is longer than readers
/// take.
absl::StatusOr<std::string> formatManifest(const Manifest &manifest, int64_t mostBytes = kMostManifestBytes);

/// Sets the first line, with its checksum, before the rest of a manifest's text.
std::string withManifestChecksum(std::string_view rest, int64_t version = kManifestVersion);

/// The manifest from its text; all that it says about itself is checked (files that it names are not looked
/// at). `file` names it in messages.
absl::StatusOr<Manifest> parseManifest(std::string_view text, const std::string &file);

/// Empty when the manifest's own parts agree, else what is wrong: names, sizes, blocks, ranges, slices that
/// do not cover or that share bytes of a file.
std::string checkManifest(const Manifest &manifest);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_MANIFEST_H
