//===- Splitter.h - Where a text falls into pre-tokens --------------------===//
//
// A byte-pair encoding works within pieces of the text ("pre-tokens") and never across them. A splitter says
// where they lie; which one a tokenizer has is part of what its file says, and every implementation of one
// pattern must cut at the same bytes. Splitters are immutable: one serves all threads, each with a scratch of
// its own. The text may be any bytes: one that is not part of well-formed UTF-8 is looked at as if U+FFFD
// stood there, and stays in its piece as it is.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_SPLITTER_H
#define WEFT_RUNTIME_TOKENIZER_SPLITTER_H

#include "runtime/tokenizer/RegexDialect.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace weft {

class Splitter {
public:
  virtual ~Splitter() = default;

  /// Bytes [begin, end) of the text; never empty.
  struct Piece {
    size_t begin;
    size_t end;
  };

  /// What one thread needs besides the splitter; an implementation derives its own.
  struct Scratch {
    virtual ~Scratch() = default;
  };
  /// Null when the splitter needs none.
  virtual std::unique_ptr<Scratch> makeScratch() const { return nullptr; }

  /// Writes the next pieces of `text` from `position` on (0, or the end of the last piece of the call before)
  /// and returns how many: fewer than there is room for only behind the last one, 0 at the end. `scratch` is
  /// what makeScratch() gave. It fails only where matching would take unreasonable time or memory.
  virtual absl::StatusOr<size_t> split(std::string_view text, size_t position, std::span<Piece> pieces,
                                       Scratch *scratch) const = 0;

  /// The length of a prefix of `text` whose pieces are the same whatever follows, and behind which a piece
  /// begins; 0 when there is none or it is not known. The time it takes is proportional to what lies behind
  /// the prefix.
  virtual size_t independentPrefix(std::string_view) const { return 0; }
};

/// A hand-written matcher for `patterns`, each of which splits the pieces of the one before it, matches and
/// what lies between them alike being pieces (`Split` with behavior `Isolated`). Only when the texts are
/// exactly those of a well-known tokenizer (gpt2, llama3, cl100k, qwen2, o200k, tekken, deepseek); else null.
/// Which engine runs them matters: `{1,3}+` and `$` mean one thing to Rust's and another to Oniguruma.
std::unique_ptr<Splitter> createWellKnownSplitter(std::span<const std::string> patterns,
                                                  RegexDialect dialect);

/// The pattern that a well-known tokenizer calls its own: "gpt2", "cl100k", ...; empty for other names.
std::string_view wellKnownPattern(std::string_view name, RegexDialect dialect);
/// "gpt2, llama3, ...".
std::string wellKnownPatternNames(RegexDialect dialect);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_SPLITTER_H
