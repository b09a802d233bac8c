//===- ImportFolder.cpp - A Hugging Face folder becomes a checkpoint ------===//
//
// One file holds all parameters, in the order that every file of a checkpoint has; each reader takes of it
// the slices that it needs.
//
//===----------------------------------------------------------------------===//
#include "runtime/interchange/ImportFolder.h"

#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/checkpoint/SafetensorsFile.h"
#include "runtime/interchange/NewFolder.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace weft::interchange {
namespace {

using namespace checkpoint;

constexpr char kFile[] = "rank-00000.safetensors";
constexpr int64_t kStretchElements = 1 << 18;

/// Writes one parameter; returns its record.
absl::StatusOr<TensorRecord> writeParameter(const FolderParameters &source, size_t index,
                                            SafetensorsWriter &writer, const SafetensorsEntry &entry,
                                            const ImportRequest &request, ImportResult &result) {
  const auto &[name, type] = source.parameters()[index];
  const int64_t elements = type.elements(), width = byteSize(type.dtype);
  std::vector<std::byte> stretch(static_cast<size_t>(std::min(elements, kStretchElements) * width));
  for (int64_t at = 0; at < elements; at += kStretchElements) {
    const int64_t count = std::min(kStretchElements, elements - at);
    absl::StatusOr<FloatChanges> changes = source.read(index, at, count, stretch.data());
    if (!changes.ok())
      return changes.status();
    result.rounded += changes->rounded;
    if (absl::Status status = writer.append(std::span(stretch).first(static_cast<size_t>(count * width)));
        !status.ok())
      return status;
    if (request.stopRequested())
      return withExitCode(absl::CancelledError("stopped by a signal: nothing was imported"),
                          ExitCode::Stopped);
  }
  if (absl::Status status = writer.endEntry(); !status.ok())
    return status;
  result.bytes += type.bytes();
  ++result.tensors;
  return TensorRecord{name, type, "", {{kFile, wholeSlice(type.shape), entry.begin, entry.end}}};
}

absl::StatusOr<ImportResult> importWhole(const FolderParameters &source, const ImportRequest &request) {
  const Parameters &parameters = source.parameters();
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, size_t> index;
  int64_t bytes = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    entries.push_back(
        {parameters[i].first, toSafetensors(parameters[i].second.dtype), parameters[i].second.shape, 0, 0});
    index.emplace(parameters[i].first, i);
    bytes += parameters[i].second.bytes();
  }
  absl::StatusOr<NewFolder> folder = NewFolder::create(request.output, bytes, *request.files);
  if (!folder.ok())
    return folder.status();
  absl::StatusOr<SafetensorsWriter> writer = SafetensorsWriter::create(
      *request.files, absl::StrCat(folder->temporary(), "/", kFile), std::move(entries), {});
  if (!writer.ok())
    return writer.status();
  ImportResult result;
  RankRecord record{{kFile, writer->bytes(), {}}, {}};
  for (const SafetensorsEntry &entry : writer->entries()) {
    absl::StatusOr<TensorRecord> tensor =
        writeParameter(source, index.at(entry.name), *writer, entry, request, result);
    if (!tensor.ok())
      return tensor.status();
    record.tensors.push_back(*std::move(tensor));
  }
  absl::StatusOr<std::vector<Block>> blocks = writer->finish();
  if (!blocks.ok())
    return blocks.status();
  record.file.blocks = *std::move(blocks);
  CheckpointState state;
  state.text = {{"config", request.resolvedConfig}};
  if (absl::Status status =
          commitSaveAs(folder->temporary(), folder->path(), state, {record}, *request.files);
      !status.ok())
    return status;
  folder->release();
  return result;
}

} // namespace

absl::StatusOr<ImportResult> importFolder(const FolderParameters &source, const ImportRequest &request) {
  absl::StatusOr<ImportResult> result = importWhole(source, request);
  return result.ok() ? std::move(result) : withExitCode(result.status(), ExitCode::Checkpoint);
}

} // namespace weft::interchange
