//===- Checkpoint.cpp - A saved checkpoint, open for reading --------------===//
//
// What there is comes from the manifest alone; the headers of files are for other tools, and for `verify`.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/FileOperations.h"
#include "runtime/checkpoint/ReadBlocks.h"
#include "runtime/checkpoint/SafetensorsFile.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/FormatCount.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace weft::checkpoint {
namespace {
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

absl::Status Checkpoint::read(const std::string &name, std::span<std::byte> into) const {
  const TensorRecord *tensor = find(name);
  const std::vector<int64_t> shape = tensor ? tensor->type.shape : std::vector<int64_t>();
  ThreadPool one(1);
  return readSlices({{name, wholeSlice(shape), shape, into}}, one).status();
}

absl::StatusOr<int64_t> Checkpoint::readSlices(const std::vector<SliceRequest> &requests,
                                               ThreadPool &threads) const {
  std::vector<TensorRead> reads;
  for (const SliceRequest &wanted : requests) {
    if (absl::Status status = checkRequest(wanted); !status.ok())
      return withExitCode(status, ExitCode::Checkpoint);
    reads.push_back({find(wanted.name), &wanted});
  }
  const ReadPlan plan = ReadPlan::ofSlices(contents, reads);
  if (absl::Status status = readBlocks(*system, path, plan, threads); !status.ok())
    return withExitCode(status, ExitCode::Checkpoint);
  return plan.bytes();
}

absl::Status Checkpoint::checkRequest(const SliceRequest &wanted) const {
  const TensorRecord *tensor = find(wanted.name);
  if (!tensor)
    return absl::NotFoundError(absl::StrCat(path, ": no tensor '", wanted.name,
                                            "' in this checkpoint. `weft ckpt inspect` lists those it has."));
  const std::string what = absl::StrCat(path, ": tensor '", wanted.name, "'");
  if (std::string problem = checkInside(tensor->type.shape, wanted.slice); !problem.empty())
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", problem));
  const Slice front{std::vector<int64_t>(wanted.memory.size(), 0), wanted.slice.size};
  if (std::string problem = checkInside(wanted.memory, front); !problem.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": slice ", wanted.slice.str(), " is larger than the memory for it"));
  const int64_t bytes = TensorType{tensor->type.dtype, wanted.memory}.bytes();
  if (static_cast<int64_t>(wanted.into.size()) != bytes)
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has ", bytes, " bytes, room for ", wanted.into.size(), " was given"));
  return absl::OkStatus();
}

void Checkpoint::checkHeader(const FileRecord &record, std::vector<std::string> &problems) const {
  const std::string name = absl::StrCat(path, "/", record.name);
  absl::StatusOr<InputFile> file = InputFile::open(*system, name);
  if (!file.ok()) {
    problems.emplace_back(file.status().message());
    return;
  }
  absl::StatusOr<SafetensorsHeader> header = readSafetensorsHeader(*file, name);
  if (!header.ok()) {
    problems.emplace_back(header.status().message());
    return;
  }
  absl::flat_hash_map<std::string_view, const SafetensorsEntry *> entries;
  for (const SafetensorsEntry &entry : header->entries)
    entries.emplace(entry.name, &entry);
  const auto pieces = piecesIn(record.name, contents);
  if (pieces.size() != entries.size())
    problems.push_back(
        absl::StrCat(name, ": holds ", entries.size(), " tensors, the manifest names ", pieces.size()));
  for (const auto &[tensor, piece] : pieces) {
    const auto found = entries.find(tensor->name);
    const SafetensorsEntry *entry = found == entries.end() ? nullptr : found->second;
    if (!entry || entry->begin != piece->begin || entry->end != piece->end ||
        entry->type != toSafetensors(tensor->type.dtype) || entry->shape != piece->slice.size)
      problems.push_back(
          absl::StrCat(name, ": its header does not agree with the manifest on tensor '", tensor->name, "'"));
  }
}

std::vector<std::string> Checkpoint::verify() const {
  std::vector<std::string> problems;
  for (size_t file = 0; file < contents.files.size(); ++file) {
    const std::vector<absl::Status> damage = findDamage(*system, path, ReadPlan::ofFile(contents, file));
    for (const absl::Status &each : damage)
      problems.emplace_back(each.message());
    if (damage.empty())
      checkHeader(contents.files[file], problems);
  }
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
