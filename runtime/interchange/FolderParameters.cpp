//===- FolderParameters.cpp - A program's parameters in a foreign folder --===//
//
// First each tensor of the folder finds its parameter or its reason to be there, then each parameter is held
// against its tensor; what is left over on either side is a difference.
//
//===----------------------------------------------------------------------===//
#include "runtime/interchange/FolderParameters.h"

#include "runtime/checkpoint/Checksum.h"
#include "runtime/config/HuggingFaceConfig.h"
#include "runtime/interchange/ParameterNames.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace weft::interchange {

using namespace checkpoint;

namespace {

constexpr int64_t kStretchElements = 1 << 16;
constexpr size_t kMostDifferences = 20;

std::string count(size_t number, const char *thing) {
  return absl::StrCat(number, " ", thing, number == 1 ? "" : "s");
}

} // namespace

/// Builds the match of a folder.
class FolderMatcher {
public:
  explicit FolderMatcher(FolderParameters &result) : result(result) {
    for (size_t i = 0; i < result.wanted.size(); ++i)
      result.index.emplace(result.wanted[i].first, i);
    result.tensors.resize(result.wanted.size(), nullptr);
  }

  absl::Status match();

private:
  std::vector<std::string> missingPrefixes() const;
  void place(const FolderTensor &tensor);
  absl::StatusOr<bool> areEqual(const FolderTensor &a, const FolderTensor &b) const;
  absl::Status checkTiedHead();
  void check(size_t parameter);
  void tellTypes();
  absl::Status differencesStatus() const;
  void differ(std::string what) { differences.push_back(std::move(what)); }

  FolderParameters &result;
  std::vector<std::string> prefixes; ///< that the folder's names lack
  std::vector<std::string> buffers;
  const FolderTensor *tiedHead = nullptr;
  std::set<std::pair<int64_t, int64_t>> rows; ///< of the vocabulary, in the folder and in the model
  std::vector<std::string> differences;
};

/// First parts of parameter names of which the folder has none: a base model was saved without its head, and
/// so without the name under which the whole model has it.
std::vector<std::string> FolderMatcher::missingPrefixes() const {
  std::set<std::string> candidates;
  for (const auto &[name, type] : result.wanted)
    if (const size_t dot = name.find('.'); dot != std::string::npos && name != kHead)
      candidates.insert(name.substr(0, dot + 1));
  std::vector<std::string> missing;
  for (const std::string &candidate : candidates)
    if (std::none_of(result.source.tensors().begin(), result.source.tensors().end(),
                     [&](const auto &tensor) { return absl::StartsWith(tensor.entry.name, candidate); }))
      missing.push_back(candidate);
  return missing;
}

void FolderMatcher::place(const FolderTensor &tensor) {
  const std::string &name = tensor.entry.name;
  auto found = result.index.find(name);
  for (const std::string &prefix : prefixes)
    if (found == result.index.end())
      found = result.index.find(prefix + name);
  if (found != result.index.end())
    result.tensors[found->second] = &tensor;
  else if (isKnownBuffer(name))
    buffers.push_back(name);
  else if (name == kHead)
    tiedHead = &tensor;
  else
    differ(absl::StrCat(name, ": absent in the model, ", tensor.typeText(), " in the folder"));
}

/// Whether two tensors of the folder have the same bytes.
absl::StatusOr<bool> FolderMatcher::areEqual(const FolderTensor &a, const FolderTensor &b) const {
  if (a.entry.type != b.entry.type || a.entry.shape != b.entry.shape)
    return false;
  const int64_t bytes = a.entry.end - a.entry.begin;
  const auto most = static_cast<int64_t>(kChecksumStretch);
  std::vector<std::byte> ofA(kChecksumStretch), ofB(kChecksumStretch);
  for (int64_t at = 0; at < bytes; at += most) {
    const auto part = static_cast<size_t>(std::min(most, bytes - at));
    if (absl::Status status = result.source.readBytes(a, at, std::span(ofA).first(part)); !status.ok())
      return status;
    if (absl::Status status = result.source.readBytes(b, at, std::span(ofB).first(part)); !status.ok())
      return status;
    if (std::memcmp(ofA.data(), ofB.data(), part) != 0)
      return false;
  }
  return true;
}

/// A head in the folder of a model that has none of its own: it must be the embedding.
absl::Status FolderMatcher::checkTiedHead() {
  if (!tiedHead)
    return absl::OkStatus();
  for (size_t i = 0; i < result.wanted.size(); ++i) {
    if (!isTokenEmbedding(result.wanted[i].first) || !result.tensors[i])
      continue;
    absl::StatusOr<bool> equal = areEqual(*result.tensors[i], *tiedHead);
    if (!equal.ok())
      return equal.status();
    if (!*equal)
      break;
    result.told.push_back(absl::StrCat(kHead, " is ", result.tensors[i]->entry.name,
                                       " once more, bit for bit, and the model ties them: it is left out"));
    return absl::OkStatus();
  }
  differ(absl::StrCat(kHead, ": the model ties it to its embedding, ", tiedHead->typeText(),
                      " in the folder, and not the embedding's bits. Set model.tie_word_embeddings: false"));
  return absl::OkStatus();
}

void FolderMatcher::check(size_t parameter) {
  const auto &[name, type] = result.wanted[parameter];
  const FolderTensor *tensor = result.tensors[parameter];
  if (!tensor)
    return differ(absl::StrCat(
        name, ": ", type.str(), " in the model, absent in the folder",
        name == kHead ? ". Where the folder's model ties it, set model.tie_word_embeddings: true" : ""));
  const std::optional<DType> stored = toDType(tensor->entry.type);
  if (!stored || !isFloat(*stored))
    return differ(absl::StrCat(name, ": ", type.str(), " in the model, ", tensor->typeText(),
                               " in the folder. Read are F64, F32, F16 and BF16: save it unquantized"));
  std::vector<int64_t> shape = type.shape;
  const std::vector<int64_t> &found = tensor->entry.shape;
  const bool sameWidth =
      hasVocabularyRows(name) && shape.size() == 2 && found.size() == 2 && found[1] == shape[1];
  if (sameWidth) {
    rows.emplace(found[0], shape[0]);
    shape[0] = std::min(found[0], shape[0]);
  }
  if (!isCutOf(shape, found))
    differ(absl::StrCat(name, ": ", type.str(), " in the model, ", tensor->typeText(), " in the folder",
                        sameWidth ? absl::StrCat(". Set model.vocab_size: ", found[0], " or more") : ""));
}

/// Which types become which, and whether that rounds.
void FolderMatcher::tellTypes() {
  std::map<std::pair<std::string, std::string>, std::pair<size_t, bool>> changes;
  for (size_t i = 0; i < result.wanted.size(); ++i) {
    const DType stored = *toDType(result.tensors[i]->entry.type), type = result.wanted[i].second.dtype;
    if (stored == type)
      continue;
    const bool isExact = type == DType::F64 || (type == DType::F32 && stored != DType::F64);
    auto &[number, exact] = changes[{std::string(name(stored)), std::string(name(type))}];
    ++number;
    exact = isExact;
  }
  for (const auto &[types, change] : changes)
    result.told.push_back(absl::StrCat(count(change.first, "tensor"), ": ", types.first, " becomes ",
                                       types.second,
                                       change.second ? ", exactly" : ", rounded to the nearest value"));
}

absl::Status FolderMatcher::differencesStatus() const {
  if (differences.empty())
    return absl::OkStatus();
  std::string text =
      absl::StrCat(result.source.path(), ": its weights are not those of this model, ",
                   count(differences.size(), "tensor"), differences.size() == 1 ? " differs:" : " differ:");
  for (size_t i = 0; i < std::min(differences.size(), kMostDifferences); ++i)
    absl::StrAppend(&text, "\n  ", differences[i]);
  if (differences.size() > kMostDifferences)
    absl::StrAppend(&text, "\n  and ", differences.size() - kMostDifferences, " more");
  absl::StrAppend(&text, "\nTake the model from the folder (model: {from: ", result.source.path(), "/",
                  kConfigFile, "}), or change the keys that these shapes follow from.");
  return absl::FailedPreconditionError(text);
}

absl::Status FolderMatcher::match() {
  prefixes = missingPrefixes();
  for (const FolderTensor &tensor : result.source.tensors())
    place(tensor);
  if (absl::Status status = checkTiedHead(); !status.ok())
    return status;
  for (size_t i = 0; i < result.wanted.size(); ++i)
    check(i);
  if (rows.size() > 1)
    differ(absl::StrCat(kHead, " and the embedding have different numbers of rows in the folder: ",
                        rows.begin()->first, " and ", rows.rbegin()->first));
  if (absl::Status status = differencesStatus(); !status.ok())
    return status;
  for (const std::string &prefix : prefixes)
    result.told.push_back(absl::StrCat("the folder's names lack '", prefix,
                                       "', as those of a base model do: it is put before them"));
  for (const auto &[found, wanted] : rows)
    if (found < wanted)
      result.told.push_back(absl::StrCat("the vocabulary has ", found, " rows in the folder and ", wanted,
                                         " in the model: the others are 0"));
  if (!buffers.empty())
    result.told.push_back(
        absl::StrCat("left out, since they follow from the config: ", absl::StrJoin(buffers, " ")));
  tellTypes();
  return absl::OkStatus();
}

absl::StatusOr<FolderParameters> FolderParameters::match(HuggingFaceFolder folder, Parameters parameters) {
  FolderParameters result(std::move(folder), std::move(parameters));
  if (absl::Status status = FolderMatcher(result).match(); !status.ok())
    return status;
  return result;
}

absl::StatusOr<FloatChanges> FolderParameters::read(size_t index, int64_t first, int64_t count,
                                                    std::byte *into) const {
  const auto &[name, type] = wanted[index];
  const FolderTensor &tensor = *tensors[index];
  const int64_t there = std::clamp<int64_t>(tensor.elements() - first, 0, count);
  absl::StatusOr<FloatChanges> changes = source.readFloats(tensor, first, there, type.dtype, into);
  if (!changes.ok())
    return changes.status();
  if (changes->overflowed > 0)
    return absl::OutOfRangeError(absl::StrCat(source.fileOf(tensor), ": tensor '", tensor.entry.name,
                                              "', element ", first + changes->firstOverflow,
                                              ": too large for ", std::string(weft::name(type.dtype)),
                                              ", the type of the parameter. Save it with smaller values"));
  const int64_t width = byteSize(type.dtype);
  std::fill(into + there * width, into + count * width, std::byte{0});
  return changes;
}

absl::Status FolderParameters::readSlice(const std::string &name, const Slice &slice,
                                         const std::vector<int64_t> &memory,
                                         std::span<std::byte> into) const {
  const auto found = index.find(name);
  if (found == index.end())
    return absl::NotFoundError(absl::StrCat(source.path(), ": no parameter '", name, "' was asked for"));
  const TensorType &type = wanted[found->second].second;
  const std::vector<int64_t> front(slice.size.size(), 0);
  // With elements of one byte the walk counts elements.
  BoxWalk walk(1, slice.size, {type.shape, slice.offset}, {memory, front});
  const int64_t width = byteSize(type.dtype);
  std::vector<std::byte> stretch(static_cast<size_t>(kStretchElements * width));
  BoxWalk::Run run;
  for (bool more = walk.next(run); more;) {
    const int64_t begin = run.from, end = std::min(begin + kStretchElements, type.elements());
    absl::StatusOr<FloatChanges> changes = read(found->second, begin, end - begin, stretch.data());
    if (!changes.ok())
      return changes.status();
    while (more && run.from < end) {
      const int64_t elements = std::min(run.bytes, end - run.from);
      std::memcpy(into.data() + run.to * width, stretch.data() + (run.from - begin) * width,
                  static_cast<size_t>(elements * width));
      run = {run.from + elements, run.to + elements, run.bytes - elements};
      if (run.bytes == 0)
        more = walk.next(run);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> folderDifferences(const HuggingFaceFolder &folder,
                                                           const ModelConfig &model, const std::string &run) {
  if (folder.config().empty())
    return std::vector<std::string>{absl::StrCat(folder.path(), ": there is no ", kConfigFile,
                                                 ": of the model, names and shapes alone are held against ",
                                                 run)};
  absl::StatusOr<ModelConfig> other = loadModelConfig(folder.config());
  if (!other.ok())
    return other.status();
  return modelDifferences(model, run, *other, folder.config());
}

} // namespace weft::interchange
