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
    lines = 0;
    constexpr size_t pieceBytes = size_t{1} << 20;
    std::string text;
    while (true) {
      const size_t kept = text.size();
      text.resize(kept + std::max(pieceBytes, kept));
      absl::StatusOr<size_t> count = (*reader)->read(std::span(text).subspan(kept));
      if (!count.ok())
        return count.status();
      text.resize(kept + *count);
      const size_t ready = *count == 0 ? text.size() : cutOf(file, text);
      if (absl::Status status = add(file, std::string_view(text).substr(0, ready)); !status.ok())
        return status;
      if (*count == 0)
        return absl::OkStatus();
      text.erase(0, ready);
    }
  }
  const CountedTexts &counted() const { return texts; }

private:
  /// Where what may be counted without the rest ends; 0: nowhere yet.
  size_t cutOf(const SourceFile &file, std::string_view text) const {
    if (file.format == SourceFormat::Text)
      return splitter.independentPrefix(text);
    const size_t lineEnd = text.rfind('\n');
    return lineEnd == std::string_view::npos ? 0 : lineEnd + 1;
  }

  absl::Status add(const SourceFile &file, std::string_view text) {
    return file.format == SourceFormat::Text ? addText(text) : addLines(file.path, text);
  }

  absl::Status addText(std::string_view text) {
    texts.bytes += static_cast<int64_t>(text.size());
    return counts.add(text);
  }

  absl::Status addLines(const std::string &path, std::string_view rest) {
    while (!rest.empty()) {
      ++lines;
      const size_t lineEnd = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, lineEnd);
      rest.remove_prefix(std::min(lineEnd + 1, rest.size()));
      if (line.ends_with('\r'))
        line.remove_suffix(1);
      if (line.find_first_not_of(" \t") == std::string_view::npos)
        continue;
      if (absl::Status status = readJsonText(line, jsonKey, document); !status.ok())
        return absl::InvalidArgumentError(absl::StrCat(path, ":", lines, ": ", status.message(), "."));
      if (absl::Status status = addText(document); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  const std::string &jsonKey;
  const Splitter &splitter;
  PieceCounts &counts;
  CountedTexts texts;
  int64_t lines = 0; ///< of this file, so far
  std::string document;
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
