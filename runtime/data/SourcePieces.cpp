//===- SourcePieces.cpp - A corpus file, cut where it may be cut ----------===//
//
// A piece is looked for in the next 128 KiB behind the last cut; when there is no place to cut, in twice as
// many, and so on: linear work, however long a line is.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/SourcePieces.h"

#include "runtime/data/JsonText.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace weft {

absl::Status forEachLine(const SourcePiece &piece, const std::string &jsonKey,
                         absl::FunctionRef<absl::Status(std::string_view)> document) {
  std::string_view rest = piece.text;
  std::string text;
  for (int64_t number = piece.begin.lines + 1; !rest.empty(); ++number) {
    size_t lineEnd = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, lineEnd);
    rest.remove_prefix(std::min(lineEnd + 1, rest.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos)
      continue;
    absl::Status status = readJsonText(line, jsonKey, text);
    if (status.ok())
      status = document(text);
    if (!status.ok())
      return absl::InvalidArgumentError(
          absl::StrCat(piece.file->path, ":", number, ": ", status.message(), "."));
  }
  return absl::OkStatus();
}

PieceReader::PieceReader(const SourceFile &file, SourcePosition begin, IndependentPrefix independentPrefix,
                         PieceReaderOptions options, std::unique_ptr<TextReader> reader)
    : file(&file), independentPrefix(std::move(independentPrefix)), options(options),
      reader(std::move(reader)), position(begin) {}

absl::StatusOr<PieceReader> PieceReader::open(const SourceFile &file, SourcePosition begin,
                                              IndependentPrefix independentPrefix,
                                              PieceReaderOptions options) {
  absl::StatusOr<std::unique_ptr<TextReader>> reader = TextReader::open(file.path);
  if (!reader.ok())
    return reader.status();
  if (begin.offset > 0)
    if (absl::Status status = (*reader)->skip(begin.offset); !status.ok())
      return status;
  return PieceReader(file, begin, std::move(independentPrefix), options, *std::move(reader));
}

absl::Status PieceReader::fill(size_t size) {
  size_t filled = buffer.size();
  size_t wanted = cutAt + size;
  if (filled >= wanted)
    return absl::OkStatus();
  buffer.resize(wanted);
  while (filled < wanted && !textEnded) {
    absl::StatusOr<size_t> count = reader->read(std::span(buffer).subspan(filled));
    if (!count.ok())
      return count.status();
    filled += *count;
    textEnded = *count == 0;
  }
  buffer.resize(filled);
  return absl::OkStatus();
}

absl::StatusOr<size_t> PieceReader::findCut(std::string_view text) const {
  if (file->format == SourceFormat::Text)
    return independentPrefix(text);
  size_t lineEnd = text.rfind('\n');
  if (lineEnd != std::string_view::npos)
    return lineEnd + 1;
  if (text.size() > options.longestLine)
    return absl::InvalidArgumentError(absl::StrCat(
        file->path, ":", position.lines + 1, ": the line is longer than ", options.longestLine, " bytes"));
  return size_t{0};
}

absl::Status PieceReader::next(SourcePiece &piece) {
  std::string_view text;
  size_t cut = 0;
  for (size_t size = pieceBytes; cut == 0 && !piece.endsFile; size *= 2) {
    if (absl::Status status = fill(size); !status.ok())
      return status;
    text = std::string_view(buffer).substr(cutAt, size);
    piece.endsFile = textEnded && cutAt + size >= buffer.size();
    absl::StatusOr<size_t> found = piece.endsFile ? text.size() : findCut(text);
    if (!found.ok())
      return found.status();
    cut = *found;
  }
  text = text.substr(0, cut);

  piece.file = file;
  piece.text = text;
  piece.begin = position;
  position.offset += static_cast<int64_t>(cut);
  if (file->format == SourceFormat::Jsonl)
    position.lines += std::count(text.begin(), text.end(), '\n');
  if (piece.endsFile)
    position = {.file = position.file + 1};
  piece.end = position;
  piece.fileBytes = piece.endsFile ? 0 : reader->fileBytesRead();
  forget(cut);
  return absl::OkStatus();
}

/// Passes over bytes of the buffer; they are thrown away once they are most of it.
void PieceReader::forget(size_t bytes) {
  cutAt += bytes;
  if (cutAt <= buffer.size() / 2)
    return;
  buffer.erase(0, cutAt);
  cutAt = 0;
}

} // namespace weft
