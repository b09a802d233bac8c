//===- RegexProperties.cpp - Sets of characters, as PCRE2 classes ---------===//
//
// General categories only: scripts and derived properties move between versions of Unicode in ways that a
// list of added characters does not describe.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/RegexProperties.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/UnicodeAdditions.h"

#include "absl/strings/ascii.h"

#include "absl/strings/str_format.h"

#include <array>
#include <span>
#include <utility>

namespace weft {
namespace {

using NamePair = std::pair<std::string_view, std::string_view>;

// Mn and Mc are absent: U+1171E went from one to the other. C and Cn shrink with every version.
constexpr NamePair longNames[] = {
    {"letter", "L"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S"},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"control", "Cc"},
};

/// Names as Unicode compares them: without case, spaces, hyphens and underscores.
std::string looseName(std::string_view name) {
  std::string loose;
  for (char letter : name)
    if (letter != ' ' && letter != '_' && letter != '-')
      loose += absl::ascii_tolower(static_cast<unsigned char>(letter));
  return loose;
}

/// "Lu" for "lu" and "Uppercase_Letter"; empty for another property.
std::string_view categoryOf(std::string_view name) {
  const std::string loose = looseName(name);
  for (const auto &[longName, shortName] : longNames)
    if (loose == longName || loose == absl::AsciiStrToLower(abslView(shortName)))
      return shortName;
  return {};
}

std::string additionsTo(std::string_view category) {
  std::string ranges;
  for (const UnicodeAddition &addition : unicodeAdditions)
    if (std::string_view(addition.category.data(), addition.category.size()).starts_with(category))
      absl::StrAppendFormat(&ranges, "\\x{%x}-\\x{%x}", addition.first, addition.last);
  return ranges;
}

std::string categoryClass(std::string_view category) {
  return concat("\\p{", category, "}", additionsTo(category));
}

} // namespace

std::string spaceClass() {
  return "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"
         "\\x{3000}";
}

std::string digitClass(RegexDialect) { return categoryClass("Nd"); }

std::string wordClass(RegexDialect dialect) {
  std::string word;
  for (std::string_view category : {"L", "M", "Nd", "Nl", "Pc"})
    word += categoryClass(category);
  // Letters within circles and squares. Oniguruma adds numbers of Latin-1, Rust the joiners.
  word += "\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}";
  return word +
         (dialect == RegexDialect::Oniguruma ? "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}" : "\\x{200c}\\x{200d}");
}

std::optional<std::string> propertyClass(std::string_view name, RegexDialect dialect) {
  const std::string_view category = categoryOf(name);
  if (!category.empty())
    return categoryClass(category);
  const std::string loose = looseName(name);
  if (loose == "whitespace" || loose == "space")
    return spaceClass();
  if (loose == "word" && dialect == RegexDialect::Oniguruma)
    return wordClass(dialect);
  return std::nullopt;
}

bool dependsOnCase(std::string_view name) {
  const std::string_view category = categoryOf(name);
  return category == "Lu" || category == "Ll" || category == "Lt";
}

} // namespace weft
