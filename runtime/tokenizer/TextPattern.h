//===- TextPattern.h - What a Split or Replace looks for ------------------===//
//
// {"String": ...}, searched for as it is, or {"Regex": ...}.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_TEXTPATTERN_H
#define WEFT_RUNTIME_TOKENIZER_TEXTPATTERN_H

#include "runtime/tokenizer/JsonFields.h"
#include "runtime/tokenizer/Regex.h"

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include <optional>
#include <string>
#include <string_view>

namespace weft {

class TextPattern {
public:
  /// `fields.pattern`.
  static absl::StatusOr<TextPattern> read(const JsonFields &fields);
  static absl::StatusOr<TextPattern> ofRegex(std::string_view regex);

  /// As Regex::forEachSegment; malformed bytes are looked at as U+FFFD.
  absl::Status forEachSegment(std::string_view text, bool isWellFormed, Regex::Scratch &scratch,
                              absl::FunctionRef<absl::Status(size_t, size_t, bool)> segment) const;

  /// The regular expression as the file writes it; empty for a string.
  std::string_view regexText() const { return regex.has_value() ? std::string_view(text) : ""; }
  /// The string; empty for a regular expression.
  std::string_view stringText() const { return regex.has_value() ? "" : std::string_view(text); }

private:
  std::string text;
  std::optional<Regex> regex;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_TEXTPATTERN_H
