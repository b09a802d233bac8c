//===- TextPattern.cpp - What a Split or Replace looks for ----------------===//
//
// A text with malformed bytes is matched as a copy in which U+FFFD stands for each; positions are counted
// back.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/TextPattern.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/Utf8Text.h"

#include "absl/status/status.h"

namespace weft {

absl::StatusOr<TextPattern> TextPattern::ofRegex(std::string_view regex) {
  absl::StatusOr<Regex> compiled = Regex::compile(regex, RegexDialect::Oniguruma);
  if (!compiled.ok())
    return compiled.status();
  TextPattern pattern;
  pattern.text = std::string(regex);
  pattern.regex = *std::move(compiled);
  return pattern;
}

absl::StatusOr<TextPattern> TextPattern::read(const JsonFields &fields) {
  const nlohmann::json *value = fields.find("pattern");
  if (value == nullptr || !value->is_object() || value->size() != 1 || !value->begin().value().is_string() ||
      (value->begin().key() != "String" && value->begin().key() != "Regex"))
    return fields.error("pattern", "expected {\"String\": \"...\"} or {\"Regex\": \"...\"}");
  const std::string text = value->begin().value().get<std::string>();
  if (text.empty())
    return fields.error("pattern", "an empty pattern cuts nothing");
  if (value->begin().key() == "String") {
    TextPattern pattern;
    pattern.text = text;
    return pattern;
  }
  absl::StatusOr<TextPattern> pattern = ofRegex(text);
  if (!pattern.ok())
    return absl::Status(pattern.status().code(),
                        concat(fields.pathOf("pattern"), ": ", pattern.status().message()));
  return pattern;
}

absl::Status
TextPattern::forEachSegment(std::string_view subject, bool isWellFormed, Regex::Scratch &scratch,
                            absl::FunctionRef<absl::Status(size_t, size_t, bool)> segment) const {
  if (regex.has_value() && isWellFormed)
    return regex->forEachSegment(subject, scratch, segment);
  if (regex.has_value()) {
    const WellFormedCopy copy(subject);
    return regex->forEachSegment(copy.text(), scratch, [&](size_t begin, size_t end, bool isMatch) {
      return segment(copy.originOf(begin), copy.originOf(end), isMatch);
    });
  }
  size_t reported = 0;
  for (size_t found = 0; (found = subject.find(text, reported)) != std::string_view::npos;) {
    if (found != reported)
      if (absl::Status status = segment(reported, found, false); !status.ok())
        return status;
    reported = found + text.size();
    if (absl::Status status = segment(found, reported, true); !status.ok())
      return status;
  }
  return reported == subject.size() ? absl::OkStatus() : segment(reported, subject.size(), false);
}

} // namespace weft
