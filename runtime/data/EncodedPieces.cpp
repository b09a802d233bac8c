//===- EncodedPieces.cpp - Pieces of a corpus as stored tokens ------------===//
//
// A long text out of JSONL is encoded in parts as small as a piece, where the tokenizer allows it.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/EncodedPieces.h"

#include "runtime/data/IndexedDatasetWriter.h"

#include <algorithm>
#include <utility>

namespace weft {

absl::Status PieceEncoder::encode(const SourcePiece &piece, EncodedPieces &out) {
  out.end = piece.end;
  out.fileBytes = piece.fileBytes;
  if (piece.file->format == SourceFormat::Jsonl)
    return forEachLine(piece, jsonKey, [&](std::string_view text) {
      absl::Status status = encodeText(text, out);
      if (!status.ok())
        return status;
      if (text.empty())
        ++out.emptyDocuments;
      else
        endDocument(out);
      return absl::OkStatus();
    });
  if (absl::Status status = encodeText(piece.text, out); !status.ok())
    return status;
  bool isEmptyFile = piece.begin.offset == 0 && piece.text.empty();
  if (piece.endsFile && isEmptyFile)
    ++out.emptyDocuments;
  else if (piece.endsFile)
    endDocument(out);
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
