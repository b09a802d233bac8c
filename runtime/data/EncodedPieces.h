//===- EncodedPieces.h - Pieces of a corpus as stored tokens --------------===//
//
// What one worker makes of some pieces, ready to be appended to a dataset: tokens in their stored type, which
// documents they close, and where in the corpus they end.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_ENCODEDPIECES_H
#define WEFT_RUNTIME_DATA_ENCODEDPIECES_H

#include "runtime/data/IndexFile.h"
#include "runtime/data/SourcePieces.h"
#include "runtime/tokenizer/Tokenizer.h"

#include "absl/status/status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft {

struct EncodedPieces {
  std::vector<std::byte> stored;
  /// Tokens of each document that ends here; of the first one, those that lie here.
  std::vector<int64_t> documentTokens;
  int64_t openTokens = 0; ///< behind the last of them
  int64_t textBytes = 0;
  int64_t emptyDocuments = 0;
  SourcePosition end;
  int64_t fileBytes = 0; ///< of the file that `end` is in, compressed or not, that are read
};

/// Encodes pieces one after the other. One object for each thread: it keeps its buffers.
class PieceEncoder {
public:
  PieceEncoder(const Tokenizer &tokenizer, TokenType type, std::string jsonKey)
      : tokenizer(tokenizer), type(type), jsonKey(std::move(jsonKey)) {}

  /// Adds `piece` to `out`. An error of JSON names file, line and column.
  absl::Status encode(const SourcePiece &piece, EncodedPieces &out);

private:
  absl::Status encodeText(std::string_view text, EncodedPieces &out);
  void store(std::span<const int32_t> tokens, EncodedPieces &out) const;
  void endDocument(EncodedPieces &out) const;

  const Tokenizer &tokenizer;
  TokenType type;
  std::string jsonKey;
  std::unique_ptr<Tokenizer::Scratch> scratch = tokenizer.makeScratch();
  std::vector<int32_t> ids;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_ENCODEDPIECES_H
