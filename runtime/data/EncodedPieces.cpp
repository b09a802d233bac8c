//===- EncodedPieces.cpp - Pieces of a corpus as stored tokens ------------===//
//
// A long text out of JSONL is encoded in parts as small as a piece, where the tokenizer allows it.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/EncodedPieces.h"

#include "runtime/data/IndexedDatasetWriter.h"
#include "runtime/data/JsonText.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace weft {

absl::Status PieceEncoder::encode(const SourcePiece &piece, EncodedPieces &out) {
  out.end = piece.end;
  out.fileBytes = piece.fileBytes;
  if (piece.file->format == SourceFormat::Jsonl)
    return encodeLines(piece, out);
  if (absl::Status status = encodeText(piece.text, out); !status.ok())
    return status;
  bool isEmptyFile = piece.begin.offset == 0 && piece.text.empty();
  if (piece.endsFile && isEmptyFile)
    ++out.emptyDocuments;
  else if (piece.endsFile)
    endDocument(out);
  return absl::OkStatus();
}

absl::Status PieceEncoder::encodeLines(const SourcePiece &piece, EncodedPieces &out) {
  std::string_view rest = piece.text;
  for (int64_t number = piece.begin.lines + 1; !rest.empty(); ++number) {
    size_t lineEnd = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, lineEnd);
    rest.remove_prefix(std::min(lineEnd + 1, rest.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos)
      continue;
    if (absl::Status status = readJsonText(line, jsonKey, text); !status.ok())
      return absl::InvalidArgumentError(
          absl::StrCat(piece.file->path, ":", number, ": ", status.message(), "."));
    if (text.empty()) {
      ++out.emptyDocuments;
      continue;
    }
    if (absl::Status status = encodeText(text, out); !status.ok())
      return absl::Status(status.code(),
                          absl::StrCat(piece.file->path, ":", number, ": ", status.message(), "."));
    endDocument(out);
  }
  return absl::OkStatus();
}

absl::Status PieceEncoder::encodeText(std::string_view rest, EncodedPieces &out) {
  out.textBytes += static_cast<int64_t>(rest.size());
  while (!rest.empty()) {
    size_t cut = 0;
    for (size_t size = pieceBytes; cut == 0; size *= 2)
      cut = size < rest.size() ? tokenizer.independentPrefix(rest.substr(0, size)) : rest.size();
    ids.clear();
    if (absl::Status status = tokenizer.encode(rest.substr(0, cut), {}, ids, *scratch); !status.ok())
      return status;
    store(ids, out);
    rest.remove_prefix(cut);
  }
  return absl::OkStatus();
}

void PieceEncoder::store(std::span<const int32_t> tokens, EncodedPieces &out) const {
  size_t before = out.stored.size();
  out.stored.resize(before + tokens.size() * static_cast<size_t>(byteSize(type)));
  narrowTokens(type, tokens, out.stored.data() + before);
  out.openTokens += static_cast<int64_t>(tokens.size());
}

void PieceEncoder::endDocument(EncodedPieces &out) const {
  int32_t end = tokenizer.endOfDocument();
  store(std::span(&end, 1), out);
  out.documentTokens.push_back(std::exchange(out.openTokens, 0));
}

} // namespace weft
