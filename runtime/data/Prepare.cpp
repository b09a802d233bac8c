//===- Prepare.cpp - Text to tokens on the disk ---------------------------===//
//
// One class holds the writer, the counters and the buffer of ids of a preparation; files feed it pieces of
// documents.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/Prepare.h"

#include "runtime/data/FileError.h"
#include "runtime/data/IndexedDataset.h"
#include "runtime/data/IndexedDatasetWriter.h"
#include "runtime/data/JsonText.h"
#include "runtime/data/TextReader.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <xxhash.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

// Small enough that bytes, ids and narrowed tokens of a piece stay in the second-level cache.
constexpr size_t pieceBytes = size_t{1} << 17;
constexpr double secondsBetweenReports = 0.2;

class Preparation {
public:
  Preparation(IndexedDatasetWriter writer, const Tokenizer &tokenizer, const PrepareOptions &options,
              int64_t bytesTotal)
      : writer(std::move(writer)), tokenizer(tokenizer), options(options), begin(Clock::now()),
        reported(begin) {
    progress.bytesTotal = bytesTotal;
  }

  absl::Status addFile(const SourceFile &file);
  bool hasText() const { return result.textBytes != 0; }
  absl::StatusOr<PrepareResult> finish();

private:
  absl::Status addTextFile(const SourceFile &file);
  absl::Status addJsonlFile(const SourceFile &file);
  absl::Status addPiece(std::string_view text);
  absl::Status endDocument();
  void report(int64_t bytesOfFile, bool always);

  IndexedDatasetWriter writer;
  const Tokenizer &tokenizer;
  const PrepareOptions &options;
  Clock::time_point begin;
  Clock::time_point reported;
  PrepareProgress progress;
  PrepareResult result;
  int64_t bytesOfFilesBefore = 0;
  int64_t documentBytes = 0;
  std::vector<int32_t> ids;
};

absl::Status Preparation::addFile(const SourceFile &file) {
  absl::Status status = file.format == SourceFormat::Jsonl ? addJsonlFile(file) : addTextFile(file);
  bytesOfFilesBefore += file.bytes;
  ++result.files;
  return status;
}

absl::Status Preparation::addTextFile(const SourceFile &file) {
  absl::StatusOr<std::unique_ptr<TextReader>> reader = TextReader::open(file.path);
  if (!reader.ok())
    return reader.status();
  std::string text;
  while (true) {
    size_t kept = text.size();
    text.resize(kept + pieceBytes);
    absl::StatusOr<size_t> count = (*reader)->read(std::span(text).subspan(kept));
    if (!count.ok())
      return count.status();
    text.resize(kept + *count);
    bool isEnd = *count == 0;
    size_t ready = isEnd ? text.size() : tokenizer.independentPrefix(text);
    if (absl::Status status = addPiece(std::string_view(text).substr(0, ready)); !status.ok())
      return status;
    text.erase(0, ready);
    report((*reader)->fileBytesRead(), false);
    if (isEnd)
      return endDocument();
  }
}

absl::Status Preparation::addJsonlFile(const SourceFile &file) {
  absl::StatusOr<std::unique_ptr<TextReader>> reader = TextReader::open(file.path);
  if (!reader.ok())
    return reader.status();
  LineReader lines(std::move(*reader), file.path);
  std::string text;
  while (true) {
    std::string_view line;
    absl::StatusOr<bool> more = lines.next(line);
    if (!more.ok())
      return more.status();
    if (!*more)
      return absl::OkStatus();
    if (line.find_first_not_of(" \t") == std::string_view::npos)
      continue;
    if (absl::Status status = readJsonText(line, options.jsonKey, text); !status.ok())
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, ":", lines.lineNumber(), ": ", status.message(), "."));
    if (absl::Status status = addPiece(text); !status.ok())
      return status;
    if (absl::Status status = endDocument(); !status.ok())
      return status;
    report(lines.fileBytesRead(), false);
  }
}

absl::Status Preparation::addPiece(std::string_view text) {
  result.textBytes += static_cast<int64_t>(text.size());
  documentBytes += static_cast<int64_t>(text.size());
  if (text.empty())
    return absl::OkStatus();
  ids.clear();
  tokenizer.encode(text, ids);
  return writer.appendTokens(ids);
}

absl::Status Preparation::endDocument() {
  if (std::exchange(documentBytes, 0) == 0) {
    ++result.emptyDocuments;
    return absl::OkStatus();
  }
  int32_t end = tokenizer.endOfDocument();
  absl::Status status = writer.appendTokens(std::span(&end, 1));
  writer.endDocument();
  return status;
}

void Preparation::report(int64_t bytesOfFile, bool always) {
  if (!options.onProgress)
    return;
  Clock::time_point now = Clock::now();
  if (!always && std::chrono::duration<double>(now - reported).count() < secondsBetweenReports)
    return;
  reported = now;
  progress.bytesRead = bytesOfFilesBefore + bytesOfFile;
  progress.documents = writer.documents();
  progress.tokens = writer.tokens();
  progress.seconds = std::chrono::duration<double>(now - begin).count();
  double left = static_cast<double>(progress.bytesTotal - progress.bytesRead);
  progress.secondsLeft =
      progress.bytesRead > 0 ? progress.seconds * left / static_cast<double>(progress.bytesRead) : 0;
  options.onProgress(progress);
}

absl::StatusOr<PrepareResult> Preparation::finish() {
  if (absl::Status status = writer.commit(); !status.ok())
    return status;
  report(0, true);
  result.documents = writer.documents();
  result.tokens = writer.tokens();
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

absl::StatusOr<std::vector<SourceFile>> findAll(const std::vector<std::string> &paths) {
  std::vector<SourceFile> files;
  for (const std::string &path : paths) {
    absl::StatusOr<std::vector<SourceFile>> found = findSourceFiles(path);
    if (!found.ok())
      return found.status();
    files.insert(files.end(), found->begin(), found->end());
  }
  return files;
}

/// Changes whenever what would be prepared from `files` may change.
uint64_t corpusKey(const std::vector<SourceFile> &files, const Tokenizer &tokenizer,
                   const std::string &jsonKey) {
  std::string description = absl::StrCat("weft data 1\n", tokenizer.checksum(), "\n", jsonKey, "\n");
  for (const SourceFile &file : files)
    absl::StrAppend(&description, file.path, "\n", file.bytes, " ", file.modifiedNanoseconds, "\n");
  return XXH64(description.data(), description.size(), 0);
}

} // namespace

bool isDataset(const std::string &path) {
  std::error_code error;
  return path.ends_with(".idx") || path.ends_with(".bin") ||
         (!std::filesystem::exists(path, error) && std::filesystem::exists(path + ".idx", error));
}

absl::StatusOr<PrepareResult> prepareData(const std::vector<std::string> &paths, const std::string &prefix,
                                          const Tokenizer &tokenizer, const PrepareOptions &options) {
  absl::StatusOr<std::vector<SourceFile>> files = findAll(paths);
  if (!files.ok())
    return files.status();
  int64_t bytesTotal = 0;
  for (const SourceFile &file : *files)
    bytesTotal += file.bytes;
  absl::StatusOr<IndexedDatasetWriter> writer =
      IndexedDatasetWriter::create(prefix, tokenTypeFor(tokenizer.vocabularySize()));
  if (!writer.ok())
    return writer.status();
  Preparation preparation(std::move(*writer), tokenizer, options, bytesTotal);
  for (const SourceFile &file : *files) {
    if (absl::Status status = preparation.addFile(file); !status.ok())
      return status;
  }
  if (!preparation.hasText())
    return absl::InvalidArgumentError(absl::StrCat(files->front().path,
                                                   files->size() == 1 ? "" : " and the other files",
                                                   ": no text at all: there is nothing to prepare"));
  return preparation.finish();
}

absl::StatusOr<std::string> prepareIntoCache(const std::string &path, const std::string &cacheFolder,
                                             const Tokenizer &tokenizer, const PrepareOptions &options) {
  if (isDataset(path))
    return datasetPrefix(path);
  absl::StatusOr<std::vector<SourceFile>> files = findAll({path});
  if (!files.ok())
    return files.status();
  std::error_code error;
  std::filesystem::create_directories(cacheFolder, error);
  if (error)
    return fileError(cacheFolder, "make the folder", error.value());
  uint64_t key = corpusKey(*files, tokenizer, options.jsonKey);
  std::string name = absl::StrFormat("%s-%016x", std::filesystem::path(path).filename().string(), key);
  std::string prefix = (std::filesystem::path(cacheFolder) / name).string();
  if (IndexedDataset::open(prefix).ok())
    return prefix;
  absl::StatusOr<PrepareResult> result = prepareData({path}, prefix, tokenizer, options);
  if (!result.ok())
    return result.status();
  return prefix;
}

} // namespace weft
