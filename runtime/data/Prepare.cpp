//===- Prepare.cpp - Text to tokens on the disk ---------------------------===//
//
// One class holds the writer, the journal and the counters of a preparation: it takes what the pipeline
// encodes, in order, and closes a part whenever enough bytes came.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/Prepare.h"

#include "runtime/data/DatasetDescription.h"
#include "runtime/data/EncodingPipeline.h"
#include "runtime/data/FileError.h"
#include "runtime/data/IndexedDataset.h"
#include "runtime/data/IndexedDatasetWriter.h"
#include "runtime/data/PrepareJournal.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/Processors.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double secondsBetweenReports = 0.2;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

uint64_t hashOf(std::string_view text) { return XXH64(text.data(), text.size(), 0); }

PrepareKey keyOf(const std::vector<SourceFile> &files, const Tokenizer &tokenizer,
                 const std::string &jsonKey) {
  std::string sources;
  for (const SourceFile &file : files)
    absl::StrAppend(&sources, file.path, "\n", file.bytes, " ", file.modifiedNanoseconds, "\n");
  return {hashOf(sources), tokenizer.checksum(), hashOf(jsonKey), tokenTypeFor(tokenizer.vocabularySize())};
}

class Preparation {
public:
  Preparation(std::vector<SourceFile> files, std::string prefix, const Tokenizer &tokenizer,
              const PrepareOptions &options);

  absl::StatusOr<PrepareResult> run();

private:
  absl::Status open();
  absl::Status takeBackUnfinished();
  absl::Status encodeAll();
  absl::Status append(const EncodedPieces &pieces);
  absl::Status endPart();
  absl::Status finish();
  absl::Status settle(absl::Status status);
  int64_t bytesRead() const;
  void report(bool always);
  void notice(const std::string &text) const;

  std::vector<SourceFile> files;
  std::vector<int64_t> bytesBefore; ///< of each file, and the total
  std::string prefix;
  const Tokenizer &tokenizer;
  const PrepareOptions &options;
  TokenType type;

  std::unique_ptr<PrepareJournal> journal;
  std::unique_ptr<IndexedDatasetWriter> writer;
  SourcePosition position;
  int64_t fileBytes = 0; ///< of the file at `position`, that are read
  int64_t bytesReadBefore = 0;
  PrepareResult result;

  Clock::time_point begin = Clock::now();
  Clock::time_point reported = begin;
};

Preparation::Preparation(std::vector<SourceFile> files, std::string prefix, const Tokenizer &tokenizer,
                         const PrepareOptions &options)
    : files(std::move(files)), bytesBefore(1, 0), prefix(std::move(prefix)), tokenizer(tokenizer),
      options(options), type(tokenTypeFor(tokenizer.vocabularySize())) {
  for (const SourceFile &file : this->files)
    bytesBefore.push_back(bytesBefore.back() + file.bytes);
}

absl::StatusOr<PrepareResult> Preparation::run() {
  if (absl::Status status = open(); !status.ok())
    return status;
  absl::Status status = encodeAll();
  if (status.ok())
    status = finish();
  if (!status.ok())
    return settle(std::move(status));
  report(true);
  return result;
}

/// Opens journal and writer where an earlier process left off.
absl::Status Preparation::open() {
  absl::StatusOr<PrepareJournal> opened = PrepareJournal::open(prefix + ".bin.journal");
  if (!opened.ok())
    return opened.status();
  journal = std::make_unique<PrepareJournal>(*std::move(opened));
  if (absl::Status status = takeBackUnfinished(); !status.ok())
    return status;
  absl::StatusOr<AtomicFile> bin = AtomicFile::resume(prefix + ".bin");
  if (!bin.ok())
    return bin.status();
  bin->keep(true);
  absl::StatusOr<PreparedSoFar> soFar = journal->resume(keyOf(files, tokenizer, options.jsonKey), *bin);
  if (!soFar.ok())
    return soFar.status();
  position = soFar->position;
  fileBytes = soFar->fileBytes;
  result.textBytes = result.textBytesBefore = soFar->textBytes;
  result.emptyDocuments = soFar->emptyDocuments;
  bytesReadBefore = bytesRead();
  absl::StatusOr<IndexedDatasetWriter> made =
      IndexedDatasetWriter::resume(prefix, type, *std::move(bin), std::move(soFar->index));
  if (!made.ok())
    return made.status();
  writer = std::make_unique<IndexedDatasetWriter>(*std::move(made));
  if (!journal->whyAnew().empty())
    notice(absl::StrCat("a preparation of ", prefix,
                        " was not finished and cannot go on: ", journal->whyAnew(), ". It begins anew."));
  else if (writer->documents() > 0)
    notice(absl::StrCat("going on with ", prefix, " after ", writer->documents(), " documents, ",
                        writer->tokens(), " tokens"));
  return absl::OkStatus();
}

/// A process that died between giving the .bin its name and giving the .idx its own left a .bin without an
/// index: it becomes what it was a moment before, and the journal says what it is worth.
absl::Status Preparation::takeBackUnfinished() {
  std::error_code error;
  std::string bin = prefix + ".bin";
  std::string unfinished = bin + ".tmp";
  if (std::filesystem::exists(prefix + ".idx", error) || std::filesystem::exists(unfinished, error) ||
      !std::filesystem::exists(bin, error) || journal->isNew())
    return absl::OkStatus();
  if (std::rename(bin.c_str(), unfinished.c_str()) != 0)
    return fileError(bin, "rename", errno);
  return absl::OkStatus();
}

absl::Status Preparation::encodeAll() {
  EncodingOptions how;
  how.threads = options.threads > 0 ? options.threads : availableProcessors();
  how.type = type;
  how.jsonKey = options.jsonKey;
  how.begin = position;
  EncodingPipeline pipeline(files, tokenizer, how);
  while (true) {
    absl::StatusOr<std::optional<EncodedPieces>> pieces = pipeline.next();
    if (!pieces.ok())
      return pieces.status();
    if (!*pieces)
      return absl::OkStatus();
    if (absl::Status status = append(**pieces); !status.ok())
      return status;
    report(false);
    if (options.shouldStop && options.shouldStop()) {
      if (absl::Status status = endPart(); !status.ok())
        return status;
      return absl::CancelledError("stopped");
    }
  }
}

absl::Status Preparation::append(const EncodedPieces &pieces) {
  absl::Status status = writer->appendStored(pieces.stored, pieces.documentTokens, pieces.openTokens);
  if (!status.ok())
    return status;
  journal->add(pieces);
  position = pieces.end;
  fileBytes = pieces.fileBytes;
  result.textBytes += pieces.textBytes;
  result.emptyDocuments += pieces.emptyDocuments;
  return journal->partBytes() >= options.partBytes ? endPart() : absl::OkStatus();
}

absl::Status Preparation::endPart() {
  if (absl::Status status = writer->flush(); !status.ok())
    return status;
  return journal->endPart(writer->binFile());
}

absl::Status Preparation::finish() {
  if (result.textBytes == 0)
    return absl::InvalidArgumentError(absl::StrCat(files.front().path,
                                                   files.size() == 1 ? "" : " and the other files",
                                                   ": no text at all: there is nothing to prepare"));
  if (absl::Status status = endPart(); !status.ok())
    return status;
  if (absl::Status status = writer->commit(); !status.ok())
    return status;
  absl::StatusOr<IndexedDataset> dataset = IndexedDataset::open(prefix);
  if (!dataset.ok())
    return dataset.status();
  if (absl::Status status = describeDataset(*dataset, tokenizer); !status.ok())
    return status;
  journal->remove();
  result.documents = writer->documents();
  result.tokens = writer->tokens();
  result.files = static_cast<int64_t>(files.size());
  result.seconds = secondsSince(begin);
  return absl::OkStatus();
}

/// After a failure: what was done is of use unless the sources themselves are at fault.
absl::Status Preparation::settle(absl::Status status) {
  if (absl::IsInvalidArgument(status) || absl::IsDataLoss(status)) {
    writer->keep(false);
    journal->remove();
    return status;
  }
  std::string left = absl::StrFormat("%d %% of %s are done and kept: the same command goes on from there",
                                     bytesRead() * 100 / std::max<int64_t>(bytesBefore.back(), 1), prefix);
  if (absl::IsCancelled(status))
    return withExitCode(absl::CancelledError(absl::StrCat("stopped: ", left)), ExitCode::Stopped);
  const char *stop = absl::EndsWith(status.message(), ".") ? "" : ".";
  return absl::Status(status.code(), absl::StrCat(status.message(), stop, " About ", left, "."));
}

int64_t Preparation::bytesRead() const { return bytesBefore[static_cast<size_t>(position.file)] + fileBytes; }

void Preparation::report(bool always) {
  if (!options.onProgress)
    return;
  Clock::time_point now = Clock::now();
  if (!always && std::chrono::duration<double>(now - reported).count() < secondsBetweenReports)
    return;
  reported = now;
  PrepareProgress progress;
  progress.bytesRead = bytesRead();
  progress.bytesTotal = bytesBefore.back();
  progress.documents = writer->documents();
  progress.tokens = writer->tokens();
  progress.seconds = secondsSince(begin);
  double left = static_cast<double>(progress.bytesTotal - progress.bytesRead);
  double read = static_cast<double>(progress.bytesRead - bytesReadBefore);
  progress.secondsLeft = read > 0 ? progress.seconds * left / read : 0;
  options.onProgress(progress);
}

void Preparation::notice(const std::string &text) const {
  if (options.onNotice)
    options.onNotice(text);
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
  return Preparation(*std::move(files), prefix, tokenizer, options).run();
}

absl::StatusOr<std::string> prepareIntoCache(const std::string &path, const std::string &cacheFolder,
                                             const Tokenizer &tokenizer, const PrepareOptions &options) {
  if (isDataset(path)) {
    absl::StatusOr<IndexedDataset> dataset = IndexedDataset::open(path);
    if (!dataset.ok())
      return dataset.status();
    if (absl::Status status = checkTokenizer(*dataset, tokenizer); !status.ok())
      return status;
    return dataset->prefix();
  }
  absl::StatusOr<std::vector<SourceFile>> files = findAll({path});
  if (!files.ok())
    return files.status();
  std::error_code error;
  std::filesystem::create_directories(cacheFolder, error);
  if (error)
    return fileError(cacheFolder, "make the folder", error.value());
  PrepareKey key = keyOf(*files, tokenizer, options.jsonKey);
  std::string name = absl::StrFormat("%s-%016x", std::filesystem::path(path).filename().string(),
                                     hashOf(absl::StrCat(key.sources, " ", key.tokenizer, " ", key.jsonKey)));
  std::string prefix = (std::filesystem::path(cacheFolder) / name).string();
  if (IndexedDataset::open(prefix).ok())
    return prefix;
  absl::StatusOr<PrepareResult> result = prepareData({path}, prefix, tokenizer, options);
  if (!result.ok())
    return result.status();
  return prefix;
}

} // namespace weft
