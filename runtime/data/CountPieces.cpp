//===- CountPieces.cpp - The pieces of a corpus ---------------------------===//
//
// A long text is counted as far as nothing that follows can change its pieces; the rest waits for more.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/CountPieces.h"

#include "runtime/data/SourceFiles.h"
#include "runtime/data/SourcePieces.h"

#include "absl/strings/str_cat.h"

namespace weft {
namespace {

class Counter {
public:
  Counter(const std::string &jsonKey, const Splitter &splitter, PieceCounts &counts)
      : jsonKey(jsonKey), splitter(splitter), counts(counts) {}

  absl::Status addFile(const SourceFile &file) {
    absl::StatusOr<PieceReader> reader = PieceReader::open(
        file, {}, [this](std::string_view text) { return splitter.independentPrefix(text); });
    if (!reader.ok())
      return reader.status();
    ++texts.files;
    for (bool isEnd = false; !isEnd;) {
      SourcePiece piece;
      if (absl::Status status = reader->next(piece); !status.ok())
        return status;
      if (absl::Status status = addPiece(piece); !status.ok())
        return status;
      isEnd = piece.endsFile;
    }
    return absl::OkStatus();
  }
  const CountedTexts &counted() const { return texts; }

private:
  absl::Status add(std::string_view text) {
    texts.bytes += static_cast<int64_t>(text.size());
    return counts.add(text);
  }

  absl::Status addPiece(const SourcePiece &piece) {
    if (piece.file->format != SourceFormat::Jsonl)
      return add(piece.text);
    return forEachLine(piece, jsonKey, [this](std::string_view text) { return add(text); });
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
