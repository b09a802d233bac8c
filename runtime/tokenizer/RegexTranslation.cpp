//===- RegexTranslation.cpp - Patterns of other engines, for PCRE2 --------===//
//
// One pass over the pattern. Every construct is written out again in the one spelling that PCRE2 reads
// the same way; sets of characters become classes (RegexClass), options that Ruby applies to the rest of a
// group become groups, and a repeat that PCRE2 would read differently goes around a group.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/RegexTranslation.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/RegexClass.h"
#include "runtime/tokenizer/RegexProperties.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"

#include <array>
#include <optional>
#include <vector>

namespace weft {
namespace {

constexpr size_t deepestGroup = 100;
constexpr size_t longestPattern = size_t{1} << 14;

class Translator {
public:
  Translator(std::string_view pattern, RegexDialect dialect) : reader(pattern, dialect) {}

  absl::StatusOr<std::string> run();

private:
  struct Group {
    size_t begin;
    bool isCaseless;
    bool isDotAll;
    bool isRepeatable;
    int optionGroups = 0;
  };

  absl::Status next();
  absl::Status openGroup();
  absl::Status openOptions();
  absl::Status closeGroup();
  absl::Status escape();
  absl::Status quantifier();
  absl::Status braces(std::string &count, bool &isExact);
  absl::Status literal(char32_t code);

  void atom(std::string_view text) {
    repeatable = out.size();
    out += text;
  }
  /// A class as one atom.
  void set(const RegexClass &set) { atom(set.text()); }

  bool isRuby() const { return reader.dialect() == RegexDialect::Oniguruma; }

  RegexReader reader;
  std::string out;
  std::vector<Group> groups;
  /// Where in `out` the item begins that a quantifier would repeat.
  std::optional<size_t> repeatable;
  bool isCaseless = false;
  bool isDotAll = false;
  char lastLetter = 0;
};

absl::StatusOr<std::string> Translator::run() {
  if (reader.size() > longestPattern)
    return reader.refuse(concat("more than ", longestPattern, " bytes"));
  if (reader.atEnd())
    return reader.refuse("no text");
  groups.push_back({0, false, false, false});
  while (!reader.atEnd())
    if (absl::Status status = next(); !status.ok())
      return status;
  if (groups.size() != 1)
    return reader.refuse("a group without its end");
  out.append(groups.back().optionGroups, ')');
  return std::move(out);
}

absl::Status Translator::next() {
  const char letterBefore = std::exchange(lastLetter, '\0');
  switch (reader.peek()) {
  case '(':
    return openGroup();
  case ')':
    return closeGroup();
  case '|':
    reader.skip(1);
    out += '|';
    repeatable.reset();
    return absl::OkStatus();
  case '*':
  case '+':
  case '?':
  case '{':
    return quantifier();
  case '[': {
    absl::StatusOr<RegexClass> parsed = readClass(reader, isCaseless);
    if (!parsed.ok())
      return parsed.status();
    set(*parsed);
    return absl::OkStatus();
  }
  case '\\':
    return escape();
  case '.':
    reader.skip(1);
    atom(isDotAll ? "(?s:.)" : "[^\\n]");
    return absl::OkStatus();
  case '^':
  case '$':
    // Ruby: of a line; Rust: of the text.
    out += isRuby() ? std::string(1, reader.peek()) : reader.peek() == '^' ? "\\A" : "\\z";
    reader.skip(1);
    repeatable.reset();
    return absl::OkStatus();
  default:
    lastLetter = letterBefore;
    return literal(reader.takeCharacter());
  }
}

/// Pairs of letters that full case folding makes of one character, such as the "ss" of a sharp s.
bool isFoldOfOne(char first, char second) {
  constexpr std::array<std::string_view, 5> pairs = {"ss", "ff", "fi", "fl", "st"};
  for (std::string_view pair : pairs)
    if (pair[0] == first && pair[1] == second)
      return true;
  return false;
}

absl::Status Translator::literal(char32_t code) {
  const char before = std::exchange(lastLetter, '\0');
  if (isCaseless) {
    if (code >= 0x80)
      return reader.refuse("a character outside of ASCII where case does not count");
    lastLetter = absl::ascii_tolower(static_cast<unsigned char>(code));
    if (isRuby() && isFoldOfOne(before, lastLetter))
      return reader.refuse(concat("\"", std::string{before, lastLetter}, "\" where case does not count"));
  }
  atom(regexCharacter(code));
  return absl::OkStatus();
}

absl::Status Translator::escape() {
  const char letter = reader.peek(1);
  const RegexDialect dialect = reader.dialect();
  switch (letter) {
  case 'A':
  case 'z':
  case 'G':
    out += {'\\', letter};
    break;
  case 'Z':
    if (!isRuby())
      return reader.refuse("\\Z");
    out += "\\Z";
    break;
  case 'b':
  case 'B': {
    const std::string word = concat("[", wordClass(dialect), "]");
    out += letter == 'b' ? concat("(?:(?<=", word, ")(?!", word, ")|(?<!", word, ")(?=", word, "))")
                         : concat("(?:(?<=", word, ")(?=", word, ")|(?<!", word, ")(?!", word, "))");
    break;
  }
  default: {
    absl::StatusOr<RegexItem> item = readEscape(reader, isCaseless);
    if (!item.ok())
      return item.status();
    if (item->code.has_value())
      return literal(*item->code);
    RegexClass parsed;
    parsed.add(*item);
    set(parsed);
    return absl::OkStatus();
  }
  }
  reader.skip(2);
  repeatable.reset();
  return absl::OkStatus();
}

absl::Status Translator::openGroup() {
  if (groups.size() > deepestGroup)
    return reader.refuse(concat("more than ", deepestGroup, " groups within each other"));
  Group group = {out.size(), isCaseless, isDotAll, true};
  repeatable.reset();
  if (reader.peek(1) != '?') {
    reader.skip(1);
    out += "(?:";
    groups.push_back(group);
    return absl::OkStatus();
  }
  for (std::string_view kind : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"})
    if (reader.startsWith(kind)) {
      reader.skip(kind.size());
      out += kind;
      group.isRepeatable = kind == "(?:" || kind == "(?>";
      groups.push_back(group);
      return absl::OkStatus();
    }
  return openOptions();
}

/// (?i) and (?i:
absl::Status Translator::openOptions() {
  bool turnsOn = true;
  bool caseless = isCaseless;
  bool dotAll = isDotAll;
  size_t length = 2;
  for (;; ++length) {
    const char letter = reader.peek(length);
    if (letter == ':' || letter == ')')
      break;
    if (letter == '-' && turnsOn)
      turnsOn = false;
    else if (letter == 'i')
      caseless = turnsOn;
    else if (letter == (isRuby() ? 'm' : 's'))
      dotAll = turnsOn;
    else
      return reader.refuse(concat("\"", reader.rest().substr(0, length + 1), "\""));
  }
  const std::string text = concat("(?", caseless ? "i" : "", caseless ? "" : "-i", ":");
  const bool isGroup = reader.peek(length) == ':';
  if (isGroup)
    groups.push_back({out.size(), isCaseless, isDotAll, true});
  else
    ++groups.back().optionGroups;
  if (!isGroup && !isRuby())
    return reader.refuse("options without a group (write \"(?i:...)\")");
  reader.skip(length + 1);
  out += text;
  isCaseless = caseless;
  isDotAll = dotAll;
  return absl::OkStatus();
}

absl::Status Translator::closeGroup() {
  if (groups.size() == 1)
    return reader.refuse("\")\" without its \"(\"");
  const Group group = groups.back();
  groups.pop_back();
  reader.skip(1);
  out.append(group.optionGroups + 1, ')');
  isCaseless = group.isCaseless;
  isDotAll = group.isDotAll;
  repeatable.reset();
  if (group.isRepeatable)
    repeatable = group.begin;
  return absl::OkStatus();
}

/// {n}, {n,}, {,m} and {n,m}.
absl::Status Translator::braces(std::string &count, bool &isExact) {
  const std::string_view rest = reader.rest();
  const size_t end = rest.find('}');
  if (end == std::string_view::npos)
    return reader.refuse("\"{\" that is no repeat");
  const std::string_view inside = rest.substr(1, end - 1);
  const size_t comma = inside.find(',');
  std::string_view low = inside.substr(0, comma);
  std::string_view high = comma == std::string_view::npos ? low : inside.substr(comma + 1);
  constexpr std::string_view digits = "0123456789";
  if (low.find_first_not_of(digits) != std::string_view::npos ||
      high.find_first_not_of(digits) != std::string_view::npos || low.size() > 5 || high.size() > 5 ||
      (low.empty() && high.empty()))
    return reader.refuse("\"{\" that is no repeat");
  if (!low.empty() && !high.empty() && std::stoi(std::string(low)) > std::stoi(std::string(high)))
    return reader.refuse("a repeat of more than its own limit");
  isExact = comma == std::string_view::npos;
  count = concat("{", low.empty() ? "0" : low, isExact ? "" : ",", isExact ? "" : high, "}");
  reader.skip(end + 1);
  return absl::OkStatus();
}

absl::Status Translator::quantifier() {
  if (!repeatable.has_value())
    return reader.refuse("a repeat of nothing");
  std::string count(1, reader.peek());
  const bool isInterval = count == "{";
  bool isExact = false;
  if (isInterval) {
    if (absl::Status status = braces(count, isExact); !status.ok())
      return status;
  } else {
    reader.skip(1);
  }
  // In Ruby a{n}? is (?:a{n})? and a{n,m}+ is (?:a{n,m})+; PCRE2 reads the latter as Rust does.
  const char suffix = reader.peek();
  const bool isSuffix =
      (suffix == '?' && !(isExact && isRuby())) || (suffix == '+' && !(isInterval && isRuby()));
  if (isSuffix) {
    count += suffix;
    reader.skip(1);
  }
  const size_t begin = *repeatable;
  out = concat(out.substr(0, begin), "(?:", out.substr(begin), count, ")");
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::string> translateRegex(std::string_view pattern, RegexDialect dialect) {
  return Translator(pattern, dialect).run();
}

} // namespace weft
