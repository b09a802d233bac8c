#include "runtime/train/EvaluationSamples.h"

#include "runtime/data/FileError.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

namespace weft {
namespace {

class HeldOutSamples final : public EvaluationSamples {
public:
  HeldOutSamples(std::shared_ptr<const TrainingData> data, int64_t most)
      : data(std::move(data)), size(std::min(most, this->data->samples(Split::Validation))) {}

  int64_t count() const override { return size; }
  absl::Status read(int64_t k, const Sample &sample, SampleScratch &scratch) const override {
    return data->read(Split::Validation, k, sample, scratch);
  }

private:
  std::shared_ptr<const TrainingData> data;
  int64_t size;
};

/// A folder that goes with the object.
class TemporaryFolder {
public:
  static absl::StatusOr<TemporaryFolder> create() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "weft-eval-XXXXXX").string();
    if (error || mkdtemp(name.data()) == nullptr)
      return fileError(name, "make the folder", error ? error.value() : errno);
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder &&other) noexcept : path(std::exchange(other.path, "")) {}
  ~TemporaryFolder() {
    std::error_code error; // what is left, the system clears
    if (!path.empty())
      std::filesystem::remove_all(path, error);
  }

  std::string path;

private:
  explicit TemporaryFolder(std::string path) : path(std::move(path)) {}
};

class FileSamples final : public EvaluationSamples {
public:
  FileSamples(IndexedDataset dataset, std::optional<int64_t> bytes, int32_t endOfDocument,
              const FileSamplesOptions &options)
      : dataset(std::move(dataset)), bytes(bytes), endOfDocument(endOfDocument), length(options.length),
        stride(options.stride), vocabularySize(options.vocabularySize) {}

  int64_t count() const override {
    const int64_t behindFirst = dataset.tokens() - length;
    return behindFirst <= 0 ? 1 : 1 + (behindFirst + stride - 1) / stride;
  }

  /// The targets of window k are the file's tokens from k * stride on, its inputs those before them. A window
  /// is one segment: a model sees what is before a token in the file, as it does in generation.
  absl::Status read(int64_t k, const Sample &sample, SampleScratch &) const override {
    const std::span<int32_t> tokens = sample.tokens, targets = sample.targets;
    const int64_t begin = k * stride;
    const auto present = static_cast<size_t>(std::min(length, dataset.tokens() - begin));
    if (absl::Status status = dataset.read(begin, targets.first(present), vocabularySize); !status.ok())
      return status;
    if (begin > 0) {
      if (absl::Status status = dataset.read(begin - 1, tokens.first(1), vocabularySize); !status.ok())
        return status;
    } else {
      tokens[0] = endOfDocument;
    }
    std::copy(targets.begin(), targets.begin() + static_cast<int64_t>(present) - 1, tokens.begin() + 1);
    std::fill(tokens.begin() + static_cast<int64_t>(present), tokens.end(), 0);
    std::fill(targets.begin() + static_cast<int64_t>(present), targets.end(), kNoTarget);
    if (k > 0)
      std::fill_n(targets.begin(), length - stride, kNoTarget);
    for (size_t i = 0; i < sample.segments.size(); ++i)
      sample.segments[i] = i < present ? 1 : 0;
    std::iota(sample.positions.begin(), sample.positions.end(), 0);
    return absl::OkStatus();
  }

  std::optional<int64_t> textBytes() const override { return bytes; }

private:
  IndexedDataset dataset;
  std::optional<int64_t> bytes;
  int32_t endOfDocument;
  int64_t length, stride;
  int32_t vocabularySize;
};

} // namespace

std::shared_ptr<const EvaluationSamples> heldOutSamples(std::shared_ptr<const TrainingData> data,
                                                        int64_t count) {
  return std::make_shared<const HeldOutSamples>(std::move(data), count);
}

absl::StatusOr<std::shared_ptr<const EvaluationSamples>>
fileSamples(const std::string &path, const Tokenizer &tokenizer, const FileSamplesOptions &options) {
  if (options.stride < 1 || options.stride > options.length)
    return absl::InvalidArgumentError(absl::StrCat("a stride of ", options.stride, " tokens; windows of ",
                                                   options.length, " are 1 to ", options.length,
                                                   " tokens apart"));
  if (tokenizer.endOfDocument() >= options.vocabularySize)
    return absl::InvalidArgumentError(absl::StrCat("the end of a document is token ",
                                                   tokenizer.endOfDocument(), ", the model has ",
                                                   options.vocabularySize, " tokens"));
  const auto windowsOf = [&](IndexedDataset dataset, std::optional<int64_t> bytes) {
    return std::make_shared<const FileSamples>(std::move(dataset), bytes, tokenizer.endOfDocument(), options);
  };
  if (isDataset(path)) {
    absl::StatusOr<std::string> prefix = prepareIntoCache(path, "", tokenizer, options.prepare);
    if (!prefix.ok())
      return prefix.status();
    absl::StatusOr<IndexedDataset> dataset = IndexedDataset::open(*prefix);
    if (!dataset.ok())
      return dataset.status();
    if (dataset->tokens() == 0)
      return absl::InvalidArgumentError(absl::StrCat(path, ": no token at all: there is nothing to measure"));
    return windowsOf(*std::move(dataset), std::nullopt);
  }
  // The files are mapped: they may lose their names as soon as they are open.
  absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder.ok())
    return folder.status();
  const std::string prefix = folder->path + "/data";
  absl::StatusOr<PrepareResult> prepared = prepareData({path}, prefix, tokenizer, options.prepare);
  if (absl::IsCancelled(prepared.status()))
    return withExitCode(
        absl::CancelledError(absl::StrCat("stopped by a signal while ", path, " was encoded")),
        ExitCode::Stopped);
  if (!prepared.ok())
    return prepared.status();
  absl::StatusOr<IndexedDataset> dataset = IndexedDataset::open(prefix);
  if (!dataset.ok())
    return dataset.status();
  return windowsOf(*std::move(dataset), prepared->textBytes);
}

} // namespace weft
