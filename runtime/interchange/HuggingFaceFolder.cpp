//===- HuggingFaceFolder.cpp - Weights as save_pretrained leaves them -----===//
//
// Files are found by listing the folder, so links (as the hub's cache has them) count as what they name. They
// stay open: a shard that is moved away meanwhile is still read to its end.
//
//===----------------------------------------------------------------------===//
#include "runtime/interchange/HuggingFaceFolder.h"

#include "runtime/checkpoint/Manifest.h"
#include "runtime/checkpoint/SafetensorsFile.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace weft::interchange {
namespace {

using namespace checkpoint;

/// Far over the index of any model: 100,000 tensors with names of 100 bytes have 20 MB.
constexpr int64_t kMostIndexBytes = 256 << 20;
/// Elements that are converted at once: both types of them stay in the cache.
constexpr int64_t kStretchElements = 1 << 16;

absl::Status broken(const std::string &file, const std::string &what) {
  return absl::DataLossError(absl::StrCat(file, ": ", what));
}

/// The file of each tensor, as the index says.
absl::StatusOr<std::map<std::string, std::string>> readIndex(const std::string &path, FileSystem &files) {
  absl::StatusOr<std::string> text = readFile(files, path, kMostIndexBytes);
  if (!text.ok())
    return text.status();
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object())
    return broken(path, "expected a JSON object with 'weight_map', the file of each tensor. Save the model "
                        "again, or bring the index from where the model came");
  std::map<std::string, std::string> result;
  for (const auto &[tensor, file] : map->items()) {
    if (!file.is_string() || file.get_ref<const std::string &>().empty() ||
        absl::StrContains(file.get_ref<const std::string &>(), '/'))
      return broken(path, absl::StrCat("tensor '", tensor,
                                       "': expected the name of a file in this folder, got ", file.dump()));
    result.emplace(tensor, file.get<std::string>());
  }
  return result;
}

bool contains(const std::vector<std::string> &names, const char *name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Why a folder has no weights that can be read, and what helps.
absl::Status noWeights(const std::string &folder, const std::vector<std::string> &names) {
  const bool hasPickle = std::any_of(names.begin(), names.end(), [](const std::string &name) {
    return absl::StartsWith(name, "pytorch_model") && absl::EndsWith(name, ".bin");
  });
  return absl::NotFoundError(absl::StrCat(
      folder, ": neither ", kWeightsFile, " nor ", kIndexFile, " is there. ",
      hasPickle ? "Its weights are pickled: load them with transformers and save_pretrained() them again, "
                  "which writes safetensors."
                : "Check the path: it must be the folder that save_pretrained() wrote."));
}

} // namespace

int64_t FolderTensor::elements() const {
  int64_t count = 1;
  for (int64_t size : entry.shape)
    count *= size;
  return count;
}

std::string FolderTensor::typeText() const {
  const std::string_view type = name(entry.type);
  return absl::StrCat(entry.shape.empty() ? "scalar" : absl::StrJoin(entry.shape, "x"), " ",
                      absl::string_view(type.data(), type.size()));
}

absl::Status HuggingFaceFolder::addFile(const std::string &path, FileSystem &system) {
  absl::StatusOr<InputFile> file = InputFile::open(system, path);
  if (!file.ok())
    return file.status();
  absl::StatusOr<SafetensorsHeader> header = readSafetensorsHeader(*file, path);
  if (!header.ok())
    return header.status();
  for (SafetensorsEntry &entry : header->entries)
    contents.push_back({std::move(entry), paths.size()});
  paths.push_back(path);
  opened.push_back(*std::move(file));
  return absl::OkStatus();
}

absl::Status HuggingFaceFolder::openIndexed(FileSystem &system) {
  const std::string index = absl::StrCat(folder, "/", kIndexFile);
  absl::StatusOr<std::map<std::string, std::string>> map = readIndex(index, system);
  if (!map.ok())
    return map.status();
  std::set<std::string> names;
  for (const auto &[tensor, file] : *map)
    names.insert(file);
  for (const std::string &name : names)
    if (absl::Status status = addFile(absl::StrCat(folder, "/", name), system); !status.ok())
      return absl::Status(status.code(), absl::StrCat(status.message(), " ", index, " names it."));
  std::set<std::string> found;
  for (const FolderTensor &tensor : contents) {
    const auto named = map->find(tensor.entry.name);
    if (named == map->end() || absl::StrCat(folder, "/", named->second) != fileOf(tensor))
      return broken(fileOf(tensor),
                    absl::StrCat("it holds tensor '", tensor.entry.name, "', which ", index,
                                 named == map->end() ? " does not name" : " says is in " + named->second,
                                 ". Bring index and files of one save together"));
    found.insert(tensor.entry.name);
  }
  for (const auto &[tensor, file] : *map)
    if (!found.contains(tensor))
      return broken(index, absl::StrCat("tensor '", tensor, "' is not in ", file,
                                        " as it says. Bring index and files of one save together"));
  return absl::OkStatus();
}

absl::StatusOr<HuggingFaceFolder> HuggingFaceFolder::open(const std::string &path, FileSystem &files) {
  absl::StatusOr<std::vector<std::string>> names = listFolder(files, path);
  if (!names.ok())
    return names.status();
  HuggingFaceFolder result;
  result.folder = path;
  if (contains(*names, kConfigFile))
    result.configPath = absl::StrCat(path, "/", kConfigFile);
  const bool hasFile = contains(*names, kWeightsFile), hasIndex = contains(*names, kIndexFile);
  if (hasFile && hasIndex)
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": both ", kWeightsFile, " and ", kIndexFile,
        " are there, and nothing says which of them is the model. Move the one that is not away."));
  if (!hasFile && !hasIndex)
    return noWeights(path, *names);
  absl::Status status =
      hasIndex ? result.openIndexed(files) : result.addFile(absl::StrCat(path, "/", kWeightsFile), files);
  if (!status.ok())
    return status;
  std::sort(result.contents.begin(), result.contents.end(),
            [](const auto &a, const auto &b) { return a.entry.name < b.entry.name; });
  return result;
}

const FolderTensor *HuggingFaceFolder::find(const std::string &name) const {
  const auto found =
      std::lower_bound(contents.begin(), contents.end(), name,
                       [](const FolderTensor &tensor, const auto &key) { return tensor.entry.name < key; });
  return found == contents.end() || found->entry.name != name ? nullptr : &*found;
}

int64_t HuggingFaceFolder::tensorBytes() const {
  int64_t sum = 0;
  for (const FolderTensor &tensor : contents)
    sum += tensor.entry.end - tensor.entry.begin;
  return sum;
}

absl::Status HuggingFaceFolder::readBytes(const FolderTensor &tensor, int64_t begin,
                                          std::span<std::byte> into) const {
  return opened[tensor.file].read(tensor.entry.begin + begin, into.data(), into.size());
}

absl::StatusOr<FloatChanges> HuggingFaceFolder::readFloats(const FolderTensor &tensor, int64_t first,
                                                           int64_t count, DType type, std::byte *into) const {
  const std::optional<DType> stored = toDType(tensor.entry.type);
  if (!stored || !isFloat(*stored) || !isFloat(type))
    return absl::InvalidArgumentError(absl::StrCat(fileOf(tensor), ": tensor '", tensor.entry.name, "' is ",
                                                   tensor.typeText(), ", which cannot be read as ",
                                                   std::string(name(type))));
  const int64_t width = byteSize(*stored);
  FloatChanges changes;
  if (*stored == type) {
    absl::Status status = readBytes(tensor, first * width, {into, static_cast<size_t>(count * width)});
    return status.ok() ? absl::StatusOr<FloatChanges>(changes) : status;
  }
  std::vector<std::byte> buffer(static_cast<size_t>(std::min(count, kStretchElements) * width));
  for (int64_t done = 0; done < count; done += kStretchElements) {
    const int64_t part = std::min(kStretchElements, count - done);
    const std::span<std::byte> bytes = std::span(buffer).first(static_cast<size_t>(part * width));
    if (absl::Status status = readBytes(tensor, (first + done) * width, bytes); !status.ok())
      return status;
    changes.add(convertFloats(*stored, bytes.data(), type, into + done * byteSize(type), part), done);
  }
  return changes;
}

bool isHuggingFaceFolder(const std::string &path, FileSystem &files) {
  absl::StatusOr<std::vector<std::string>> names = listFolder(files, path);
  if (!names.ok() || contains(*names, kManifestName))
    return false;
  return contains(*names, kConfigFile) || contains(*names, kWeightsFile) || contains(*names, kIndexFile);
}

} // namespace weft::interchange
