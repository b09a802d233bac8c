//===- ScalarSyntax.cpp - Numbers and truth values as text ----------------===//
//
// A number is an optional sign, digits, and for a real number a fraction and an exponent; the whole text must
// be one.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ScalarSyntax.h"

#include "runtime/support/ByteUnits.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include <charconv>
#include <cmath>
#include <optional>

namespace weft {

static absl::Status expected(absl::string_view what, const ConfigNode &node) {
  return absl::InvalidArgumentError(absl::StrCat("expected ", what, ", got ", node.describe(), "."));
}

static bool isDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

static std::string_view withoutSign(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+'))
    text.remove_prefix(1);
  return text;
}

/// YAML 1.1 reads 010 as eight, YAML 1.2 as ten.
static bool looksOctal(std::string_view text) {
  text = withoutSign(text);
  return text.size() > 1 && text[0] == '0' &&
         (isDigits(text) || (text[1] == 'o' && isDigits(text.substr(2))));
}

static absl::Status refuseOctal(const ConfigNode &node) {
  std::string digits = node.text.substr(node.text.find_first_of("0123456789"));
  size_t first = digits.find_first_not_of("0o");
  return absl::InvalidArgumentError(
      absl::StrCat(node.text, " looks octal, and YAML versions read it differently. Write ",
                   node.text[0] == '-' ? "-" : "", first == std::string::npos ? "0" : digits.substr(first),
                   " if that is meant."));
}

/// Digits with an optional fraction and exponent, as from_chars reads them, but neither "inf" nor "nan".
static std::optional<double> parseReal(std::string_view text) {
  bool negative = !text.empty() && text.front() == '-';
  text = withoutSign(text);
  if (text.empty() || (!absl::ascii_isdigit(static_cast<unsigned char>(text[0])) && text[0] != '.'))
    return std::nullopt;
  double value = 0;
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument)
    return std::nullopt;
  if (error == std::errc::result_out_of_range)
    return std::numeric_limits<double>::infinity();
  return negative ? -value : value;
}

absl::StatusOr<int64_t> readInteger(const ConfigNode &node) {
  if (node.kind != ConfigNode::Kind::Scalar)
    return expected("an integer", node);
  std::string_view text = node.text;
  if (node.quoted) {
    absl::Status status = expected("an integer", node);
    return isDigits(withoutSign(text))
               ? absl::InvalidArgumentError(absl::StrCat(status.message(), " Remove the quotes."))
               : status;
  }
  if (looksOctal(text))
    return refuseOctal(node);
  if (isDigits(withoutSign(text))) {
    if (text.front() == '+')
      text.remove_prefix(1);
    int64_t value = 0;
    auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc())
      return value;
    return absl::InvalidArgumentError(absl::StrCat(node.describe(), " does not fit 64 bits."));
  }
  std::optional<double> real = parseReal(text);
  if (real && std::floor(*real) == *real && std::abs(*real) <= 9007199254740992.0)
    return absl::InvalidArgumentError(absl::StrCat("expected an integer, got ", node.describe(), ". Write ",
                                                   static_cast<int64_t>(*real), "."));
  return expected("an integer", node);
}

absl::StatusOr<double> readNumber(const ConfigNode &node) {
  if (node.kind != ConfigNode::Kind::Scalar)
    return expected("a number", node);
  std::optional<double> value = parseReal(node.text);
  if (node.quoted) {
    absl::Status status = expected("a number", node);
    return value ? absl::InvalidArgumentError(absl::StrCat(status.message(), " Remove the quotes.")) : status;
  }
  if (looksOctal(node.text))
    return refuseOctal(node);
  if (!value)
    return expected("a number", node);
  if (!std::isfinite(*value))
    return absl::InvalidArgumentError(
        absl::StrCat(node.describe(), " is too large or too small for a 64-bit number."));
  return *value;
}

absl::StatusOr<bool> readBoolean(const ConfigNode &node) {
  if (node.kind == ConfigNode::Kind::Scalar && !node.quoted) {
    if (node.text == "true")
      return true;
    if (node.text == "false")
      return false;
    std::string lower = absl::AsciiStrToLower(node.text);
    for (const char *word : {"yes", "on", "true", "1"})
      if (lower == word)
        return absl::InvalidArgumentError(
            absl::StrCat("expected true or false, got ", node.describe(), ". Write true."));
    for (const char *word : {"no", "off", "false", "0"})
      if (lower == word)
        return absl::InvalidArgumentError(
            absl::StrCat("expected true or false, got ", node.describe(), ". Write false."));
  }
  return expected("true or false", node);
}

absl::StatusOr<std::string> readText(const ConfigNode &node) {
  if (node.kind != ConfigNode::Kind::Scalar)
    return expected("text", node);
  return node.text;
}

absl::StatusOr<int64_t> readMemorySize(const ConfigNode &node) {
  if (node.kind == ConfigNode::Kind::Scalar && looksOctal(node.text))
    return refuseOctal(node);
  if (node.kind == ConfigNode::Kind::Scalar)
    if (std::optional<int64_t> bytes = bytesFromText(node.text))
      return *bytes;
  return expected("a size such as 8 GiB, or auto", node);
}

} // namespace weft
