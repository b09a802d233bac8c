//===- RegexClass.cpp - Sets of characters in a pattern -------------------===//
//
// A complement inside of a class is kept apart from what the class lists: [\W_] is (?:[_]|[^word]), and
// [^\W_] is (?:(?![_])[word]).
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/RegexClass.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/CharacterTable.h"
#include "runtime/tokenizer/RegexProperties.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"

#include "absl/strings/str_format.h"

#include <string_view>

namespace weft {

char32_t RegexReader::takeCharacter() {
  const Character next = CharacterTable::get().at(pattern, position);
  position += next.bytes;
  return next.code;
}

absl::Status RegexReader::refuse(std::string_view what) const {
  return absl::UnimplementedError(
      concat("the pattern \"", pattern, "\" has ", what, " at byte ", position, ", which is not supported"));
}

std::string regexCharacter(char32_t code) {
  if (code < 0x80 && absl::ascii_isalnum(static_cast<unsigned char>(code)))
    return std::string(1, static_cast<char>(code));
  return absl::StrFormat("\\x{%x}", static_cast<uint32_t>(code));
}

void RegexClass::add(const RegexItem &item) {
  if (item.code.has_value())
    addRange(*item.code, *item.code);
  else if (item.isComplement)
    complements.push_back(item.set);
  else
    included += item.set;
}

void RegexClass::addRange(char32_t first, char32_t last) {
  included += regexCharacter(first);
  if (last != first)
    included += "-" + regexCharacter(last);
}

std::string RegexClass::text() const {
  if (complements.empty())
    return concat(isNegated ? "[^" : "[", included, "]");
  std::string all = "(?:";
  if (!isNegated) {
    for (const std::string &set : complements)
      all += concat(all.size() > 3 ? "|" : "", "[^", set, "]");
    return concat(all, included.empty() ? "" : concat("|[", included, "]"), ")");
  }
  if (!included.empty())
    all += concat("(?![", included, "])");
  for (size_t i = 1; i < complements.size(); ++i)
    all += concat("(?=[", complements[i], "])");
  return concat(all, "[", complements[0], "])");
}

/// Hexadecimal digits from `ahead` on, as many as `digits`, or up to a brace when that is 0.
static absl::StatusOr<char32_t> readHexadecimal(RegexReader &reader, size_t ahead, size_t digits) {
  std::string_view rest = reader.rest().substr(std::min(ahead, reader.rest().size()));
  const size_t length = digits != 0 ? digits : rest.find('}');
  if (length == std::string_view::npos || length == 0 || length > 8 || rest.size() < length)
    return reader.refuse("an unfinished character number");
  uint32_t code = 0;
  for (char digit : rest.substr(0, length)) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(digit)))
      return reader.refuse("an unfinished character number");
    const int value = absl::ascii_isdigit(static_cast<unsigned char>(digit))
                          ? digit - '0'
                          : absl::ascii_tolower(static_cast<unsigned char>(digit)) - 'a' + 10;
    code = code * 16 + static_cast<uint32_t>(value);
  }
  const bool isByte = digits == 2 && code >= 0x80;
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) || isByte)
    return reader.refuse(absl::StrFormat("the character number %x", code));
  reader.skip(ahead + length + (digits == 0 ? 1 : 0));
  return static_cast<char32_t>(code);
}

/// \p{name}, \p{^name}, \P{name}, and \pL in Rust.
static absl::StatusOr<RegexItem> readProperty(RegexReader &reader, bool isCaseless) {
  const std::string_view rest = reader.rest();
  bool isComplement = rest[1] == 'P';
  std::string_view name;
  size_t length = 0;
  if (reader.peek(2) == '{') {
    const size_t end = rest.find('}');
    if (end == std::string_view::npos)
      return reader.refuse("an unfinished property");
    name = rest.substr(3, end - 3);
    length = end + 1;
  } else if (reader.dialect() == RegexDialect::Rust && rest.size() > 2) {
    name = rest.substr(2, 1);
    length = 3;
  } else {
    return reader.refuse("an unfinished property");
  }
  if (name.starts_with('^')) {
    isComplement = !isComplement;
    name.remove_prefix(1);
  }
  std::optional<std::string> set = propertyClass(name, reader.dialect());
  if (!set.has_value() || (isCaseless && dependsOnCase(name)))
    return reader.refuse(
        concat("the property \"", name, "\"", isCaseless ? " where case does not count" : ""));
  reader.skip(length);
  return RegexItem{std::nullopt, *std::move(set), isComplement};
}

/// Escapes that stand for one character whatever surrounds them.
static std::optional<char32_t> controlOf(char letter) {
  switch (letter) {
  case 't':
    return U'\t';
  case 'n':
    return U'\n';
  case 'r':
    return U'\r';
  case 'f':
    return U'\f';
  case 'v':
    return U'\v';
  case 'a':
    return U'\a';
  case 'e':
    return U'\x1b';
  default:
    return std::nullopt;
  }
}

absl::StatusOr<RegexItem> readEscape(RegexReader &reader, bool isCaseless) {
  const char letter = reader.peek(1);
  const RegexDialect dialect = reader.dialect();
  if (letter == 'p' || letter == 'P')
    return readProperty(reader, isCaseless);
  if (letter == 'x' || letter == 'u') {
    const bool hasBraces = reader.peek(2) == '{';
    absl::StatusOr<char32_t> code = readHexadecimal(reader, hasBraces ? 3 : 2,
                                                    hasBraces       ? 0
                                                    : letter == 'x' ? 2
                                                                    : 4);
    if (!code.ok())
      return code.status();
    return RegexItem{*code, "", false};
  }
  RegexItem item;
  const char kind = absl::ascii_tolower(static_cast<unsigned char>(letter));
  if (kind == 's')
    item.set = spaceClass();
  else if (kind == 'd')
    item.set = digitClass(dialect);
  else if (kind == 'w')
    item.set = wordClass(dialect);
  else if (kind == 'h')
    item.set = "0-9A-Fa-f";
  if (!item.set.empty()) {
    item.isComplement = absl::ascii_isupper(static_cast<unsigned char>(letter));
    reader.skip(2);
    return item;
  }
  item.code = controlOf(letter);
  if (item.code.has_value()) {
    reader.skip(2);
    return item;
  }
  if (letter == '\0' || absl::ascii_isalnum(static_cast<unsigned char>(letter)))
    return reader.refuse(concat("\"\\", std::string(letter != '\0', letter), "\""));
  reader.skip(1);
  item.code = reader.takeCharacter();
  return item;
}

/// One item of a class, without a range.
static absl::StatusOr<RegexItem> readItem(RegexReader &reader, bool isCaseless) {
  if (reader.peek() == '\\')
    return readEscape(reader, isCaseless);
  if (reader.peek() == '[')
    return reader.refuse("a class within a class");
  if (reader.startsWith("&&") || reader.startsWith("--") || reader.startsWith("~~"))
    return reader.refuse(concat("\"", reader.rest().substr(0, 2), "\" within a class"));
  return RegexItem{reader.takeCharacter(), "", false};
}

absl::StatusOr<RegexClass> readClass(RegexReader &reader, bool isCaseless) {
  RegexClass parsed;
  reader.skip(1);
  if (reader.peek() == '^') {
    parsed.isNegated = true;
    reader.skip(1);
  }
  if (reader.peek() == ']')
    return reader.refuse("an empty class");
  while (reader.peek() != ']') {
    if (reader.atEnd())
      return reader.refuse("a class without its end");
    absl::StatusOr<RegexItem> first = readItem(reader, isCaseless);
    if (!first.ok())
      return first.status();
    if (isCaseless && first->code.value_or(0) >= 0x80)
      return reader.refuse("a character outside of ASCII where case does not count");
    const bool isRange = reader.peek() == '-' && reader.peek(1) != ']' && reader.peek(1) != '\0';
    if (!isRange) {
      parsed.add(*first);
      continue;
    }
    reader.skip(1);
    absl::StatusOr<RegexItem> last = readItem(reader, isCaseless);
    if (!last.ok())
      return last.status();
    if (!first->code.has_value() || !last->code.has_value() || *last->code < *first->code)
      return reader.refuse("a range that does not lie between two characters");
    if (isCaseless && *last->code >= 0x80)
      return reader.refuse("a character outside of ASCII where case does not count");
    parsed.addRange(*first->code, *last->code);
  }
  reader.skip(1);
  return parsed;
}

} // namespace weft
