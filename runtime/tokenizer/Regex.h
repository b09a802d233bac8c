//===- Regex.h - The regular expressions that tokenizer files carry -------===//
//
// A pattern runs as the engine it was written for would run it: it is rewritten for PCRE2 (RegexTranslation)
// and compiled to machine code. Repeats of one character take no memory, whatever they match; a pattern that
// needs more than a gigabyte to come back from a choice ends in an error, never in another match. Immutable:
// one object serves all threads, each with a scratch of its own.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_REGEX_H
#define WEFT_RUNTIME_TOKENIZER_REGEX_H

#include "runtime/tokenizer/RegexDialect.h"

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace weft {

class Regex {
public:
  /// What matching needs besides the pattern; any regex takes any scratch.
  class Scratch {
  public:
    Scratch();
    ~Scratch();
    Scratch(Scratch &&) noexcept;
    Scratch &operator=(Scratch &&) noexcept;

  private:
    friend class Regex;
    struct Parts;
    std::unique_ptr<Parts> parts;
  };

  struct Match {
    size_t begin;
    size_t end;
  };

  /// `pattern` in the dialect of Oniguruma (Hugging Face) or of Rust's fancy-regex (tiktoken). What cannot
  /// run exactly as written is refused by name.
  static absl::StatusOr<Regex> compile(std::string_view pattern, RegexDialect dialect);

  ~Regex();
  Regex(Regex &&) noexcept;
  Regex &operator=(Regex &&) noexcept;

  /// The leftmost match that begins at or after `from`; what lies before `from` may be looked at. `text` is
  /// well-formed UTF-8.
  absl::StatusOr<std::optional<Match>> search(std::string_view text, size_t from, Scratch &scratch) const;

  /// Calls `segment(begin, end, isMatch)` for all matches and what lies between them, in order. A match
  /// of no bytes counts unless it touches the end of the match before it.
  absl::Status forEachSegment(std::string_view text, Scratch &scratch,
                              absl::FunctionRef<absl::Status(size_t, size_t, bool)> segment) const;

private:
  struct Code;
  explicit Regex(std::unique_ptr<const Code> code);

  std::unique_ptr<const Code> code;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_REGEX_H
