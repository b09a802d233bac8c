//===- CountPieces.cpp - The pieces of a corpus ---------------------------===//
//
// A long text is counted as far as nothing that follows can change its pieces; the rest waits for more.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/CountPieces.h"

#include "runtime/data/JsonText.h"
#include "runtime/data/SourceFiles.h"
#include "runtime/data/TextReader.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

class Counter {
public:
  Counter(const std::string &jsonKey, const Splitter &splitter, PieceCounts &counts)
      : jsonKey(jsonKey), splitter(splitter), counts(counts) {}

  absl::Status addFile(const SourceFile &file) {
    absl::StatusOr<std::unique_ptr<TextReader>> reader = TextReader::open(file.path);
    if (!reader.ok())
      return reader.status();
    ++texts.files;
    return file.format == SourceFormat::Jsonl ? addLines(file.path, *std::move(reader)) : addText(**reader);
  }
  const CountedTexts &counted() const { return texts; }

private:
  absl::Status add(std::string_view text) {
    texts.bytes += static_cast<int64_t>(text.size());
    return counts.add(text);
  }

  absl::Status addText(TextReader &reader) {
    constexpr size_t pieceBytes = size_t{1} << 20;
    std::string text;
    while (true) {
      const size_t kept = text.size();
      text.resize(kept + std::max(pieceBytes, kept));
      absl::StatusOr<size_t> count = reader.read(std::span(text).subspan(kept));
      if (!count.ok())
        return count.status();
      text.resize(kept + *count);
      if (*count == 0)
        return add(text);
      const size_t ready = splitter.independentPrefix(text);
      if (absl::Status status = add(std::string_view(text).substr(0, ready)); !status.ok())
        return status;
      text.erase(0, ready);
    }
  }

  absl::Status addLines(const std::string &path, std::unique_ptr<TextReader> reader) {
    LineReader lines(std::move(reader), path);
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
      if (absl::Status status = readJsonText(line, jsonKey, text); !status.ok())
        return absl::InvalidArgumentError(
            absl::StrCat(path, ":", lines.lineNumber(), ": ", status.message(), "."));
      if (absl::Status status = add(text); !status.ok())
        return status;
    }
  }

  const std::string &jsonKey;
  const Splitter &splitter;
  PieceCounts &counts;
  CountedTexts texts;
};

} // namespace

absl::StatusOr<CountedTexts> countPieces(const std::vector<std::string> &paths, const std::string &jsonKey,
                                         const Splitter &splitter, PieceCounts &counts) {
  Counter counter(jsonKey, splitter, counts);
  for (const std::string &path : paths) {
    absl::StatusOr<std::vector<SourceFile>> files = findSourceFiles(path);
    if (!files.ok())
      return files.status();
    for (const SourceFile &file : *files)
      if (absl::Status status = counter.addFile(file); !status.ok())
        return status;
  }
  if (counter.counted().bytes == 0)
    return absl::InvalidArgumentError(
        absl::StrCat(paths.front(), paths.size() == 1 ? "" : " and the other paths",
                     ": no text at all: there is nothing to learn a vocabulary from"));
  return counter.counted();
}

} // namespace weft
