//===- SourcePieces.h - A corpus file, cut where it may be cut ------------===//
//
// A text file is cut where the tokenizer allows it, a JSONL file between lines. Where the next cut falls
// depends on the file and on the last cut alone, so reading may go on at any cut, in another process too.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_SOURCEPIECES_H
#define WEFT_RUNTIME_DATA_SOURCEPIECES_H

#include "runtime/data/SourceFiles.h"
#include "runtime/data/TextReader.h"

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace weft {

/// A place between two pieces of a corpus.
struct SourcePosition {
  int64_t file = 0;   ///< number of the file
  int64_t offset = 0; ///< bytes of its text, decompressed, that lie before
  int64_t lines = 0;  ///< lines that lie before, in JSONL
};

/// Bytes of one file that can be encoded without those around them.
struct SourcePiece {
  const SourceFile *file = nullptr;
  std::string text;
  SourcePosition begin;
  SourcePosition end; ///< the beginning of the next file when this piece is the last of its own
  bool endsFile = false;
  int64_t fileBytes = 0; ///< of the file that `end` is in, compressed or not, that are read
};

/// The length of a prefix that means the same whatever follows it; 0 when all of the text must wait for more
/// (Tokenizer::independentPrefix, Splitter::independentPrefix).
using IndependentPrefix = std::function<size_t(std::string_view)>;

/// Calls `document` with the text of each line of a JSONL piece that is not blank, valid during the call. An
/// error of JSON, or of the call, names file and line.
absl::Status forEachLine(const SourcePiece &piece, const std::string &jsonKey,
                         absl::FunctionRef<absl::Status(std::string_view)> document);

/// About as much text as one piece holds: bytes, ids and narrowed tokens of it stay in the second-level
/// cache.
inline constexpr size_t pieceBytes = size_t{1} << 17;

struct PieceReaderOptions {
  /// A longer line of JSONL is refused.
  size_t longestLine = size_t{1} << 30;
};

class PieceReader {
public:
  /// Opens `file` at `begin`. `file` outlives the reader and the pieces.
  static absl::StatusOr<PieceReader> open(const SourceFile &file, SourcePosition begin,
                                          IndependentPrefix independentPrefix,
                                          PieceReaderOptions options = {});

  /// Makes the empty `piece` the next one, up to the one that ends the file, whose text may be empty.
  absl::Status next(SourcePiece &piece);

private:
  PieceReader(const SourceFile &file, SourcePosition begin, IndependentPrefix independentPrefix,
              PieceReaderOptions options, std::unique_ptr<TextReader> reader);
  absl::Status fill(size_t size);
  absl::StatusOr<size_t> findCut(std::string_view text) const;
  void forget(size_t bytes);

  const SourceFile *file;
  IndependentPrefix independentPrefix;
  PieceReaderOptions options;
  std::unique_ptr<TextReader> reader;
  SourcePosition position; ///< the last cut
  std::string buffer;
  size_t cutAt = 0; ///< where it lies in the buffer
  bool textEnded = false;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_SOURCEPIECES_H
