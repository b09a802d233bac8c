//===- Checkpoint.cpp - A saved checkpoint, open for reading --------------===//
//
// Pieces are read and hashed stretch by stretch while these are in the cache: straight into the caller's
// memory where a piece is all that is wanted, else through a buffer of one stretch. `verify` maps each file
// and hashes it in place.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/Checksum.h"
#include "runtime/checkpoint/FileOperations.h"
#include "runtime/checkpoint/SafetensorsFile.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/FormatCount.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

namespace weft::checkpoint {
namespace {
absl::Status damaged(const std::string &file, const TensorRecord &tensor, const PieceRecord &piece,
                     uint64_t found) {
  return absl::DataLossError(
      absl::StrCat(file, ": tensor '", tensor.name, "' is damaged: its checksum is ", checksumText(found),
                   ", ", checksumText(piece.checksum),
                   " was saved. Use another checkpoint (move this folder away to go on from "
                   "the one before it)."));
}

/// The manifest's pieces that lie in a file, with their tensors.
std::vector<std::pair<const TensorRecord *, const PieceRecord *>> piecesIn(const std::string &file,
                                                                           const Manifest &manifest) {
  std::vector<std::pair<const TensorRecord *, const PieceRecord *>> result;
  for (const TensorRecord &tensor : manifest.tensors)
    for (const PieceRecord &piece : tensor.pieces)
      if (piece.file == file)
        result.emplace_back(&tensor, &piece);
  return result;
}
} // namespace

Checkpoint::Checkpoint(std::string path, FileSystem &system, Manifest manifest)
    : path(std::move(path)), system(&system), contents(std::move(manifest)) {
  for (size_t i = 0; i < contents.tensors.size(); ++i)
    index.emplace(contents.tensors[i].name, i);
}

const TensorRecord *Checkpoint::find(const std::string &name) const {
  const auto found = index.find(name);
  return found == index.end() ? nullptr : &contents.tensors[found->second];
}

int64_t Checkpoint::tensorBytes() const {
  int64_t sum = 0;
  for (const TensorRecord &tensor : contents.tensors)
    sum += tensor.type.bytes();
  return sum;
}

absl::Status Checkpoint::checkTensors(const std::vector<std::pair<std::string, TensorType>> &expected) const {
  std::vector<std::string> differences;
  absl::flat_hash_map<std::string, const TensorType *> wanted;
  for (const auto &[name, type] : expected)
    wanted.emplace(name, &type);
  for (const auto &[name, type] : expected) {
    const TensorRecord *saved = find(name);
    if (!saved)
      differences.push_back(
          absl::StrCat(name, ": ", type.str(), " in the program, absent in the checkpoint"));
    else if (saved->type != type)
      differences.push_back(
          absl::StrCat(name, ": ", type.str(), " in the program, ", saved->type.str(), " in the checkpoint"));
  }
  for (const TensorRecord &saved : contents.tensors)
    if (!wanted.contains(saved.name))
      differences.push_back(
          absl::StrCat(saved.name, ": absent in the program, ", saved.type.str(), " in the checkpoint"));
  if (differences.empty())
    return absl::OkStatus();
  std::sort(differences.begin(), differences.end());
  std::string text = absl::StrCat(path, ": the checkpoint does not fit this program, ", differences.size(),
                                  differences.size() == 1 ? " tensor differs:" : " tensors differ:");
  for (const std::string &difference : differences)
    absl::StrAppend(&text, "\n  ", difference);
  absl::StrAppend(&text, "\nUse the model and optimizer that it was saved with, or start a new run.");
  return withExitCode(absl::FailedPreconditionError(text), ExitCode::Checkpoint);
}

/// Copies of a piece that is read stretch by stretch what a slice needs of it.
class PieceCopier {
public:
  PieceCopier(const TensorRecord &tensor, const PieceRecord &piece, const Slice &slice,
              const std::vector<int64_t> &memory, std::byte *into)
      : walk(byteSize(tensor.type.dtype), intersection(piece.slice, slice).size,
             placeIn(piece.slice, piece.slice.size, intersection(piece.slice, slice)),
             placeIn(slice, memory, intersection(piece.slice, slice))),
        into(into), more(walk.next(run)) {}

  /// Takes the bytes of the piece from `begin` on; `part`s come in order.
  void take(int64_t begin, std::span<const std::byte> part) {
    const int64_t end = begin + static_cast<int64_t>(part.size());
    while (more && run.from < end) {
      const int64_t bytes = std::min(run.bytes, end - run.from);
      std::memcpy(into + run.to, part.data() + (run.from - begin), static_cast<size_t>(bytes));
      if (bytes == run.bytes) {
        more = walk.next(run);
        continue;
      }
      run = {run.from + bytes, run.to + bytes, run.bytes - bytes};
    }
  }

private:
  static BoxPlace placeIn(const Slice &holder, const std::vector<int64_t> &shape, const Slice &box) {
    BoxPlace place{shape, {}};
    for (size_t d = 0; d < shape.size(); ++d)
      place.offset.push_back(box.offset[d] - holder.offset[d]);
    return place;
  }

  BoxWalk walk;
  std::byte *into;
  BoxWalk::Run run;
  bool more;
};

absl::Status Checkpoint::readPiece(const TensorRecord &tensor, const PieceRecord &piece, const Slice &slice,
                                   const std::vector<int64_t> &memory, std::span<std::byte> into) const {
  const std::string path = absl::StrCat(this->path, "/", piece.file);
  absl::StatusOr<InputFile> file = InputFile::open(*system, path);
  if (!file.ok())
    return file.status();
  const size_t bytes = static_cast<size_t>(piece.end - piece.begin);
  // A piece that is all that is wanted goes straight to its place.
  const bool straight = piece.slice == slice && memory == slice.size;
  std::vector<std::byte> buffer(straight ? 0 : std::min(kChecksumStretch, bytes));
  PieceCopier copier(tensor, piece, slice, memory, into.data());
  Checksum checksum;
  for (size_t at = 0; at < bytes; at += kChecksumStretch) {
    const size_t length = std::min(kChecksumStretch, bytes - at);
    const std::span<std::byte> part = straight ? into.subspan(at, length) : std::span(buffer).first(length);
    if (absl::Status status = file->read(piece.begin + static_cast<int64_t>(at), part.data(), part.size());
        !status.ok())
      return status;
    checksum.update(part.data(), part.size());
    if (!straight)
      copier.take(static_cast<int64_t>(at), part);
  }
  return checksum.value() == piece.checksum ? absl::OkStatus()
                                            : damaged(path, tensor, piece, checksum.value());
}

absl::Status Checkpoint::read(const std::string &name, std::span<std::byte> into) const {
  return withExitCode(readParts(name, nullptr, nullptr, into), ExitCode::Checkpoint);
}

absl::Status Checkpoint::readSlice(const std::string &name, const Slice &slice,
                                   const std::vector<int64_t> &memory, std::span<std::byte> into) const {
  return withExitCode(readParts(name, &slice, &memory, into), ExitCode::Checkpoint);
}

/// Of a slice of the tensor, or of all of it where there is none.
absl::Status Checkpoint::readParts(const std::string &name, const Slice *slice,
                                   const std::vector<int64_t> *memory, std::span<std::byte> into) const {
  const TensorRecord *tensor = find(name);
  if (!tensor)
    return absl::NotFoundError(absl::StrCat(path, ": no tensor '", name,
                                            "' in this checkpoint. `weft ckpt inspect` lists those it has."));
  const Slice whole = wholeSlice(tensor->type.shape);
  const Slice &wanted = slice ? *slice : whole;
  const std::vector<int64_t> &shape = memory ? *memory : whole.size;
  if (std::string problem = checkInside(whole.size, wanted); !problem.empty())
    return absl::InvalidArgumentError(absl::StrCat(path, ": tensor '", name, "': ", problem));
  if (std::string problem = checkInside(shape, {std::vector<int64_t>(shape.size(), 0), wanted.size});
      !problem.empty())
    return absl::InvalidArgumentError(absl::StrCat(path, ": tensor '", name, "': slice ", wanted.str(),
                                                   " is larger than the memory for it"));
  const int64_t bytes = TensorType{tensor->type.dtype, shape}.bytes();
  if (static_cast<int64_t>(into.size()) != bytes)
    return absl::InvalidArgumentError(absl::StrCat(path, ": tensor '", name, "' has ", bytes,
                                                   " bytes, room for ", into.size(), " was given"));
  for (const PieceRecord &piece : tensor->pieces) {
    if (intersection(piece.slice, wanted).elements() == 0)
      continue;
    if (absl::Status status = readPiece(*tensor, piece, wanted, shape, into); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

void Checkpoint::verifyFile(const FileRecord &record, std::vector<std::string> &problems) const {
  const std::string name = absl::StrCat(path, "/", record.name);
  absl::StatusOr<SafetensorsFile> file = SafetensorsFile::open(*system, name);
  if (!file.ok()) {
    problems.emplace_back(file.status().message());
    return;
  }
  const auto pieces = piecesIn(record.name, contents);
  if (pieces.size() != file->header().entries.size())
    problems.push_back(absl::StrCat(name, ": holds ", file->header().entries.size(),
                                    " tensors, the manifest names ", pieces.size()));
  for (const auto &[tensor, piece] : pieces) {
    const SafetensorsEntry *entry = file->find(tensor->name);
    if (!entry || entry->begin != piece->begin || entry->end != piece->end ||
        entry->type != toSafetensors(tensor->type.dtype) || entry->shape != piece->slice.size) {
      problems.push_back(
          absl::StrCat(name, ": its header does not agree with the manifest on tensor '", tensor->name, "'"));
      continue;
    }
    Checksum checksum;
    const std::span<const std::byte> bytes = file->bytes(*entry);
    checksum.update(bytes.data(), bytes.size());
    if (checksum.value() != piece->checksum)
      problems.emplace_back(damaged(name, *tensor, *piece, checksum.value()).message());
  }
}

std::vector<std::string> Checkpoint::verify() const {
  std::vector<std::string> problems;
  for (const FileRecord &file : contents.files)
    verifyFile(file, problems);
  return problems;
}

/// Reads the manifest, and compares the files with what it says of them.
static absl::StatusOr<Manifest> readManifest(const std::string &folder, FileSystem &files) {
  absl::StatusOr<PathKind> kind = pathKind(files, folder + "/.");
  if (!kind.ok())
    return kind.status();
  if (*kind != PathKind::Folder)
    return absl::NotFoundError(absl::StrCat(folder, ": no such checkpoint. Check the path."));
  const std::string manifestPath = absl::StrCat(folder, "/", kManifestName);
  kind = pathKind(files, manifestPath);
  if (!kind.ok())
    return kind.status();
  if (*kind == PathKind::Absent)
    return absl::DataLossError(
        absl::StrCat(folder, ": broken checkpoint: it has no ", kManifestName, ". Use another checkpoint."));
  absl::StatusOr<std::string> text = readFile(files, manifestPath, kMostManifestBytes);
  if (!text.ok())
    return text.status();
  absl::StatusOr<Manifest> manifest = parseManifest(*text, manifestPath);
  if (!manifest.ok())
    return manifest.status();
  for (const FileRecord &file : manifest->files) {
    const std::string path = absl::StrCat(folder, "/", file.name);
    kind = pathKind(files, path);
    if (!kind.ok())
      return kind.status();
    if (*kind == PathKind::Absent)
      return absl::DataLossError(absl::StrCat(path, ": broken checkpoint: the file is missing. Use another "
                                                    "checkpoint."));
    absl::StatusOr<int64_t> bytes = fileBytes(files, path);
    if (!bytes.ok())
      return bytes.status();
    if (*bytes != file.bytes)
      return absl::DataLossError(absl::StrCat(path, ": broken checkpoint: the file has ", formatCount(*bytes),
                                              " bytes, ", formatCount(file.bytes),
                                              " were saved. Use another checkpoint."));
  }
  return manifest;
}

absl::StatusOr<Checkpoint> openCheckpoint(const std::string &folder, FileSystem &files) {
  absl::StatusOr<Manifest> manifest = readManifest(folder, files);
  if (!manifest.ok())
    return withExitCode(manifest.status(), ExitCode::Checkpoint);
  return Checkpoint(folder, files, *std::move(manifest));
}

} // namespace weft::checkpoint
