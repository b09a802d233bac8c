//===- ExportFolder.cpp - A checkpoint becomes a Hugging Face folder ------===//
//
// Which tensor is in which file is settled first, in the order of names; then each file is written in its own
// order, each tensor read whole (a checkpoint's pieces can lie anywhere) and converted stretch by stretch.
//
//===----------------------------------------------------------------------===//
#include "runtime/interchange/ExportFolder.h"

#include "runtime/checkpoint/SafetensorsFile.h"
#include "runtime/checkpoint/StoredElements.h"
#include "runtime/config/HuggingFaceConfig.h"
#include "runtime/interchange/HuggingFaceFolder.h"
#include "runtime/interchange/NewFolder.h"
#include "runtime/interchange/ParameterNames.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace weft::interchange {

using namespace checkpoint;

namespace {

constexpr int64_t kStretchElements = 1 << 18;
/// A tokenizer with a million tokens and its merges has less.
constexpr int64_t kMostCopiedBytes = 512 << 20;

/// A parameter on its way.
struct Exported {
  const TensorRecord *saved;
  std::vector<int64_t> shape; ///< in the folder
  DType dtype;                ///< there
  size_t file = 0;

  int64_t bytes() const { return TensorType{dtype, shape}.bytes(); }
};

absl::Status refused(const std::string &what) {
  return withExitCode(absl::InvalidArgumentError(what), ExitCode::Config);
}

/// What torch calls a type.
const char *torchName(DType type) {
  switch (type) {
  case DType::F64:
    return "float64";
  case DType::F16:
    return "float16";
  case DType::BF16:
    return "bfloat16";
  default:
    return "float32";
  }
}

class Exporter {
public:
  Exporter(const Checkpoint &checkpoint, const ExportRequest &request)
      : checkpoint(checkpoint), request(request), model(request.config.model) {}

  absl::StatusOr<ExportResult> run();

private:
  absl::Status plan();
  void assignFiles();
  absl::Status writeWeights(const std::string &folder);
  absl::Status writeFile(const std::string &path, size_t file);
  absl::Status writeTensor(const Exported &tensor, SafetensorsWriter &writer);
  absl::Status writeIndex(const std::string &folder);
  absl::Status copyFiles(const std::string &folder);
  absl::Status writeText(const std::string &path, const std::string &text);
  std::string fileName(size_t file) const {
    return files == 1 ? kWeightsFile : absl::StrFormat("model-%05d-of-%05d.safetensors", file + 1, files);
  }

  const Checkpoint &checkpoint;
  const ExportRequest &request;
  ModelConfig model; ///< as it is in the folder
  std::vector<Exported> tensors;
  size_t files = 1;
  ExportResult result;
};

absl::Status Exporter::plan() {
  if (!model.program.empty())
    return refused(absl::StrCat(checkpoint.folder(), ": the run trains the program ", model.program,
                                ", and transformers has no model of it. Its tensors are safetensors files as "
                                "they are."));
  const int64_t rows = model.vocabSize;
  if (request.vocabularySize) {
    if (*request.vocabularySize < 1 || *request.vocabularySize > rows)
      return refused(absl::StrCat("--vocab-size: ", *request.vocabularySize, ", and the model has ", rows,
                                  " rows. Works: 1 to ", rows, "."));
    model.vocabSize = *request.vocabularySize;
  }
  for (const TensorRecord &saved : checkpoint.tensors()) {
    if (!isParameter(saved.name))
      continue;
    if (!isFloat(saved.type.dtype))
      return absl::FailedPreconditionError(absl::StrCat(checkpoint.folder(), ": tensor '", saved.name,
                                                        "' is ", saved.type.str(),
                                                        ", and no parameter is that"));
    std::vector<int64_t> shape = huggingFaceShape(saved.name, saved.type.shape);
    if (hasVocabularyRows(saved.name))
      shape[0] = std::min(shape[0], model.vocabSize);
    tensors.push_back({&saved, std::move(shape), request.dtype.value_or(saved.type.dtype)});
  }
  if (tensors.empty())
    return absl::FailedPreconditionError(absl::StrCat(checkpoint.folder(), ": there is no parameter in it"));
  assignFiles();
  return absl::OkStatus();
}

void Exporter::assignFiles() {
  int64_t bytes = 0;
  files = 1;
  for (Exported &tensor : tensors) {
    if (bytes > 0 && bytes + tensor.bytes() > request.shardBytes) {
      ++files;
      bytes = 0;
    }
    tensor.file = files - 1;
    bytes += tensor.bytes();
    result.bytes += tensor.bytes();
  }
  result.files = files;
  result.tensors = tensors.size();
}

absl::Status Exporter::writeTensor(const Exported &tensor, SafetensorsWriter &writer) {
  const DType stored = tensor.saved->type.dtype;
  std::vector<std::byte> whole(static_cast<size_t>(tensor.saved->type.bytes()));
  if (absl::Status status = checkpoint.read(tensor.saved->name, whole); !status.ok())
    return status;
  // Rows that are cut are the last ones, so what is written is the front.
  const int64_t elements = TensorType{tensor.dtype, tensor.shape}.elements(), width = byteSize(tensor.dtype);
  std::vector<std::byte> stretch(static_cast<size_t>(std::min(elements, kStretchElements) * width));
  for (int64_t at = 0; at < elements; at += kStretchElements) {
    const int64_t count = std::min(kStretchElements, elements - at);
    const FloatChanges changes =
        convertFloats(stored, whole.data() + at * byteSize(stored), tensor.dtype, stretch.data(), count);
    if (changes.overflowed > 0)
      return refused(absl::StrCat("--dtype ", std::string(name(tensor.dtype)), ": tensor '",
                                  tensor.saved->name, "', element ", at + changes.firstOverflow,
                                  " is too large for it and would become infinite. Works: bf16, or without "
                                  "--dtype."));
    result.rounded += changes.rounded;
    if (absl::Status status = writer.append(std::span(stretch).first(static_cast<size_t>(count * width)));
        !status.ok())
      return status;
    if (request.stopRequested())
      return withExitCode(absl::CancelledError("stopped by a signal: nothing was exported"),
                          ExitCode::Stopped);
  }
  return writer.endEntry();
}

absl::Status Exporter::writeFile(const std::string &path, size_t file) {
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, const Exported *> byName;
  for (const Exported &tensor : tensors)
    if (tensor.file == file) {
      entries.push_back({tensor.saved->name, toSafetensors(tensor.dtype), tensor.shape, 0, 0});
      byName.emplace(tensor.saved->name, &tensor);
    }
  // transformers refuses a file that does not say whose conventions it follows.
  absl::StatusOr<SafetensorsWriter> writer =
      SafetensorsWriter::create(*request.files, path, std::move(entries), {{"format", "pt"}});
  if (!writer.ok())
    return writer.status();
  for (const SafetensorsEntry &entry : writer->entries())
    if (absl::Status status = writeTensor(*byName.at(entry.name), *writer); !status.ok())
      return status;
  return writer->finish().status();
}

absl::Status Exporter::writeText(const std::string &path, const std::string &text) {
  absl::StatusOr<OutputFile> file =
      OutputFile::create(*request.files, path, static_cast<int64_t>(text.size()));
  if (!file.ok())
    return file.status();
  if (absl::Status status = file->append(text.data(), text.size()); !status.ok())
    return status;
  return file->finish();
}

absl::Status Exporter::writeIndex(const std::string &folder) {
  nlohmann::ordered_json map = nlohmann::ordered_json::object();
  for (const Exported &tensor : tensors)
    map[tensor.saved->name] = fileName(tensor.file);
  const nlohmann::ordered_json index = {{"metadata", {{"total_size", result.bytes}}},
                                        {"weight_map", std::move(map)}};
  return writeText(absl::StrCat(folder, "/", kIndexFile), index.dump(2) + "\n");
}

absl::Status Exporter::writeWeights(const std::string &folder) {
  for (size_t file = 0; file < files; ++file)
    if (absl::Status status = writeFile(absl::StrCat(folder, "/", fileName(file)), file); !status.ok())
      return status;
  return files == 1 ? absl::OkStatus() : writeIndex(folder);
}

/// Files whose names are not taken by what was written.
absl::Status Exporter::copyFiles(const std::string &folder) {
  for (const std::string &path : request.copied) {
    absl::StatusOr<std::string> text = readFile(*request.files, path, kMostCopiedBytes);
    if (!text.ok())
      return text.status();
    if (absl::Status status = writeText(absl::StrCat(folder, path.substr(path.rfind('/'))), *text);
        !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<ExportResult> Exporter::run() {
  if (absl::Status status = plan(); !status.ok())
    return status;
  absl::StatusOr<NewFolder> folder = NewFolder::create(request.output, result.bytes, *request.files);
  if (!folder.ok())
    return folder.status();
  if (absl::Status status = writeWeights(folder->temporary()); !status.ok())
    return status;
  if (absl::Status status =
          writeText(absl::StrCat(folder->temporary(), "/", kConfigFile),
                    huggingFaceConfigText(model, torchName(tensors.front().dtype), request.endOfText));
      !status.ok())
    return status;
  if (absl::Status status = copyFiles(folder->temporary()); !status.ok())
    return status;
  if (absl::Status status = folder->publish(); !status.ok())
    return status;
  return result;
}

} // namespace

std::vector<std::string> tokenizerFiles(const std::string &file, FileSystem &files) {
  const std::string folder = parentFolder(file), own = file.substr(file.rfind('/') + 1);
  std::vector<std::string> paths = {folder + "/" + own};
  for (const char *name : {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
                           "vocab.json", "merges.txt", "chat_template.jinja", "generation_config.json"})
    if (const std::string path = absl::StrCat(folder, "/", name);
        name != own && InputFile::open(files, path).ok())
      paths.push_back(path);
  return paths;
}

absl::StatusOr<ExportResult> exportFolder(const Checkpoint &checkpoint, const ExportRequest &request) {
  absl::StatusOr<ExportResult> result = Exporter(checkpoint, request).run();
  return result.ok() ? std::move(result) : withExitCode(result.status(), ExitCode::Checkpoint);
}

} // namespace weft::interchange
