//===- SourcePieces.cpp - A corpus file, cut where it may be cut ----------===//
//
// A piece is looked for in the next 128 KiB behind the last cut; when there is no place to cut, in twice as
// many, and so on: linear work, however long a line is.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/SourcePieces.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace weft {

PieceReader::PieceReader(const SourceFile &file, SourcePosition begin, const Tokenizer &tokenizer,
                         PieceReaderOptions options, std::unique_ptr<TextReader> reader)
    : file(&file), tokenizer(&tokenizer), options(options), reader(std::move(reader)), position(begin) {}

absl::StatusOr<PieceReader> PieceReader::open(const SourceFile &file, SourcePosition begin,
                                              const Tokenizer &tokenizer, PieceReaderOptions options) {
  absl::StatusOr<std::unique_ptr<TextReader>> reader = TextReader::open(file.path);
  if (!reader.ok())
    return reader.status();
  if (begin.offset > 0)
    if (absl::Status status = (*reader)->skip(begin.offset); !status.ok())
      return status;
  return PieceReader(file, begin, tokenizer, options, *std::move(reader));
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
    return tokenizer->independentPrefix(text);
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
