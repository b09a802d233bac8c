//===- PreTokenizer.h - The pre_tokenizer of a tokenizer.json -------------===//
//
// A pre-tokenizer cuts a text into pieces, drops some, and may rewrite them (a space in front, bytes as
// visible characters). Pieces are handed on one by one, depth first: a sequence of pre-tokenizers needs
// memory for the piece at hand alone. Immutable: one object serves all threads, each with a scratch of its
// own.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_PRETOKENIZER_H
#define WEFT_RUNTIME_TOKENIZER_PRETOKENIZER_H

#include "runtime/tokenizer/JsonFields.h"
#include "runtime/tokenizer/Regex.h"

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// A part of a text, perhaps rewritten.
struct TextPiece {
  std::string_view text;
  /// Whether it begins where the whole text does.
  bool isFirst = false;
  bool isWellFormed = true;

  TextPiece part(size_t begin, size_t end) const {
    return {text.substr(begin, end - begin), isFirst && begin == 0, isWellFormed};
  }
};

using EmitPiece = absl::FunctionRef<absl::Status(TextPiece)>;

class PreTokenizer {
public:
  virtual ~PreTokenizer() = default;

  /// Calls `emit` for the pieces of `piece`, which is not empty; they live until emit returns. Malformed
  /// bytes are looked at as U+FFFD.
  virtual absl::Status split(TextPiece piece, Regex::Scratch &scratch, EmitPiece emit) const = 0;

  /// The pattern when this is a Split on one with behavior Isolated; else empty.
  virtual std::string_view isolatedPattern() const { return {}; }
};

/// The stages of a pre-tokenizer, sequences unfolded.
struct PreTokenizers {
  std::vector<std::unique_ptr<PreTokenizer>> stages;
  /// The last stage of the file was ByteLevel, and its rewriting is left to the model: pieces are raw bytes.
  bool endsInBytes = false;

  absl::Status split(TextPiece piece, Regex::Scratch &scratch, EmitPiece emit) const;
};

absl::StatusOr<PreTokenizers> createPreTokenizers(const JsonFields &fields);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_PRETOKENIZER_H
