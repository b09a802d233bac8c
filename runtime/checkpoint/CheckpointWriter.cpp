//===- CheckpointWriter.cpp - Saving a checkpoint: all of it or nothing ---===//
//
// The order of writes, fsyncs and renames below is the whole of the guarantee; tests/unit/checkpoint stops it
// at every one of them, by a kill and by a loss of power that drops what was not synced.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/checkpoint/FileOperations.h"
#include "runtime/checkpoint/SafetensorsFile.h"
#include "runtime/support/ExitCode.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace weft::checkpoint {
namespace {
Slice sliceOf(const TensorView &tensor) {
  return tensor.part ? Slice{tensor.part->offset, tensor.type.shape} : wholeSlice(tensor.type.shape);
}

absl::Status checkView(const TensorView &tensor) {
  const std::optional<int64_t> bytes = tensorBytes(tensor.type.shape, byteSize(tensor.type.dtype));
  if (!bytes)
    return absl::InvalidArgumentError(
        absl::StrCat("checkpoint: the shape of tensor '", tensor.name, "' overflows"));
  if (!tensor.data && *bytes > 0)
    return absl::InvalidArgumentError(absl::StrCat("checkpoint: tensor '", tensor.name, "' has no data"));
  if (tensor.part && !tensor.part->memoryShape.empty()) {
    const Slice front{std::vector<int64_t>(tensor.part->memoryShape.size(), 0), tensor.type.shape};
    if (std::string problem = checkInside(tensor.part->memoryShape, front); !problem.empty())
      return absl::InvalidArgumentError(
          absl::StrCat("checkpoint: the memory of tensor '", tensor.name, "' is too small: ", problem));
  }
  return absl::OkStatus();
}

/// The bytes to save: where they lie, or packed into `buffer` where the memory has others between them.
std::span<const std::byte> denseBytes(const TensorView &tensor, std::vector<std::byte> &buffer) {
  const auto *data = static_cast<const std::byte *>(tensor.data);
  const std::vector<int64_t> &size = tensor.type.shape;
  const int64_t width = byteSize(tensor.type.dtype);
  const size_t bytes = static_cast<size_t>(tensor.type.bytes());
  const std::vector<int64_t> front(size.size(), 0);
  const BoxPlace memory{tensor.part && !tensor.part->memoryShape.empty() ? tensor.part->memoryShape : size,
                        front};
  BoxWalk walk(width, size, memory, {size, front});
  BoxWalk::Run first;
  if (!walk.next(first) || first.bytes == tensor.type.bytes())
    return {data, bytes};
  buffer.resize(bytes);
  copyBox(width, size, data, memory, buffer.data(), {size, front});
  return buffer;
}

/// Joins the ranks' pieces into one record per tensor, sorted by name.
absl::StatusOr<std::vector<TensorRecord>> joinRanks(const std::vector<RankRecord> &ranks) {
  absl::flat_hash_map<std::string, size_t> index;
  std::vector<TensorRecord> tensors;
  for (const RankRecord &rank : ranks)
    for (const TensorRecord &tensor : rank.tensors) {
      const auto [found, isNew] = index.emplace(tensor.name, tensors.size());
      if (isNew) {
        tensors.push_back(tensor);
        continue;
      }
      TensorRecord &joined = tensors[found->second];
      if (joined.type != tensor.type || joined.placement != tensor.placement)
        return absl::InvalidArgumentError(absl::StrCat("checkpoint: the ranks disagree on tensor '",
                                                       tensor.name, "': ", joined.type.str(), " and ",
                                                       tensor.type.str()));
      joined.pieces.insert(joined.pieces.end(), tensor.pieces.begin(), tensor.pieces.end());
    }
  std::sort(tensors.begin(), tensors.end(), [](const auto &a, const auto &b) { return a.name < b.name; });
  return tensors;
}

absl::Status writeManifest(const std::string &temporary, const Manifest &manifest, FileSystem &files) {
  absl::StatusOr<std::string> text = formatManifest(manifest);
  if (!text.ok())
    return text.status();
  absl::StatusOr<OutputFile> file = OutputFile::create(files, absl::StrCat(temporary, "/", kManifestName),
                                                       static_cast<int64_t>(text->size()));
  if (!file.ok())
    return file.status();
  if (absl::Status status = file->append(text->data(), text->size()); !status.ok())
    return status;
  return file->finish();
}

/// Gives the finished temporary folder the final name. An older folder of that name is replaced in one step
/// and removed after.
absl::Status publish(const std::string &temporary, const std::string &final, FileSystem &files) {
  absl::StatusOr<PathKind> kind = pathKind(files, final);
  if (!kind.ok())
    return kind.status();
  if (*kind == PathKind::Absent)
    return moveDurably(files, temporary, final);
  if (absl::Status status = exchangeDurably(files, temporary, final); !status.ok())
    return status;
  return removeTree(files, temporary);
}

absl::Status writeAll(const std::string &temporary, const CheckpointState &state,
                      const std::vector<TensorView> &tensors, FileSystem &files) {
  absl::StatusOr<RankRecord> rank = writeRank(temporary, /*rank=*/0, tensors, files);
  if (!rank.ok())
    return rank.status();
  return commitSave(temporary, state, {*std::move(rank)}, files);
}
} // namespace

absl::StatusOr<std::string> beginSave(const std::string &checkpoints, int64_t step, int64_t bytes,
                                      FileSystem &files) {
  if (step < 0)
    return absl::InvalidArgumentError(absl::StrCat("checkpoint: step ", step, " is negative"));
  if (absl::Status status = createFolders(files, checkpoints); !status.ok())
    return status;
  std::string temporary = temporaryFolder(checkpoints, step);
  if (absl::Status status = removeTree(files, temporary); !status.ok())
    return status;
  // Where the file system does not tell, the write that no longer fits does.
  if (const int64_t free = files.freeBytes(checkpoints); free >= 0 && free < bytes)
    return diskFull(temporary, bytes, free);
  if (const int made = files.mkdir(temporary, 0777); made < 0)
    return fileError(-made, "create the folder", temporary);
  return temporary;
}

absl::StatusOr<RankRecord> writeRank(const std::string &temporary, int64_t rank,
                                     const std::vector<TensorView> &tensors, FileSystem &files,
                                     const std::atomic<bool> *stop) {
  std::vector<SafetensorsEntry> entries;
  absl::flat_hash_map<std::string, const TensorView *> views;
  for (const TensorView &tensor : tensors) {
    if (absl::Status status = checkView(tensor); !status.ok())
      return status;
    entries.push_back({tensor.name, toSafetensors(tensor.type.dtype), tensor.type.shape, 0, 0});
    views.emplace(tensor.name, &tensor);
  }
  const std::string name = absl::StrFormat("rank-%05d.safetensors", rank);
  absl::StatusOr<SafetensorsWriter> file =
      SafetensorsWriter::create(files, absl::StrCat(temporary, "/", name), std::move(entries), {});
  if (!file.ok())
    return file.status();

  RankRecord record{{name, file->bytes(), {}}, {}};
  std::vector<std::byte> buffer;
  for (const SafetensorsEntry &entry : file->entries()) {
    const TensorView &view = *views.at(entry.name);
    if (absl::Status status = file->write(denseBytes(view, buffer), stop); !status.ok())
      return status;
    const PieceRecord piece{name, sliceOf(view), entry.begin, entry.end};
    const std::vector<int64_t> &shape = view.part ? view.part->globalShape : view.type.shape;
    record.tensors.push_back(
        {view.name, {view.type.dtype, shape}, view.part ? view.part->placement : "", {piece}});
  }
  absl::StatusOr<std::vector<Block>> blocks = file->finish();
  if (!blocks.ok())
    return blocks.status();
  record.file.blocks = *std::move(blocks);
  return record;
}

absl::Status commitSave(const std::string &temporary, const CheckpointState &state,
                        const std::vector<RankRecord> &ranks, FileSystem &files) {
  return commitSaveAs(temporary, stepFolder(parentFolder(temporary), state.step), state, ranks, files);
}

absl::Status commitSaveAs(const std::string &temporary, const std::string &final,
                          const CheckpointState &state, const std::vector<RankRecord> &ranks,
                          FileSystem &files) {
  absl::StatusOr<std::vector<TensorRecord>> tensors = joinRanks(ranks);
  if (!tensors.ok())
    return tensors.status();
  Manifest manifest{state, kBlockBytes, {}, *std::move(tensors)};
  for (const RankRecord &rank : ranks)
    manifest.files.push_back(rank.file);
  std::sort(manifest.files.begin(), manifest.files.end(),
            [](const auto &a, const auto &b) { return a.name < b.name; });
  if (std::string problem = checkManifest(manifest); !problem.empty())
    return absl::InvalidArgumentError(absl::StrCat("checkpoint: ", problem));
  if (absl::Status status = writeManifest(temporary, manifest, files); !status.ok())
    return status;
  if (absl::Status status = syncFolder(files, temporary); !status.ok())
    return status;
  return publish(temporary, final, files);
}

absl::Status removeOlder(const std::string &checkpoints, int64_t step, const SaveOptions &options) {
  absl::Status status = keepLatest(checkpoints, step, options.keepLatest, options.keepEvery, *options.files);
  if (status.ok())
    return status;
  return absl::Status(
      status.code(),
      absl::StrCat(stepFolder(checkpoints, step),
                   " was saved, but an older checkpoint could not be removed: ", status.message()));
}

static absl::Status save(const std::string &checkpoints, const CheckpointState &state,
                         const std::vector<TensorView> &tensors, const SaveOptions &options) {
  int64_t bytes = 0;
  for (const TensorView &tensor : tensors) {
    if (absl::Status status = checkView(tensor); !status.ok())
      return status;
    bytes += tensor.type.bytes();
  }
  FileSystem &files = *options.files;
  absl::StatusOr<std::string> temporary = beginSave(checkpoints, state.step, bytes, files);
  if (!temporary.ok())
    return temporary.status();
  if (absl::Status status = writeAll(*temporary, state, tensors, files); !status.ok()) {
    // What cannot be removed either is ignored by readers and removed by the next start; the cause is what
    // counts.
    removeTree(files, *temporary).IgnoreError();
    return status;
  }
  return removeOlder(checkpoints, state.step, options);
}

absl::Status saveCheckpoint(const std::string &checkpoints, const CheckpointState &state,
                            const std::vector<TensorView> &tensors, const SaveOptions &options) {
  return withExitCode(save(checkpoints, state, tensors, options), ExitCode::Checkpoint);
}

} // namespace weft::checkpoint
