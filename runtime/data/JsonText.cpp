//===- JsonText.cpp - One text out of one line of JSON --------------------===//
//
// A cursor walks the line once, and a small state machine says what may come next. The brackets that are open
// are a stack of bits, 512 deep; the only keys looked at are those of the outermost object.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/JsonText.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <bitset>
#include <cstdint>

namespace weft {
namespace {

constexpr size_t deepestNesting = 512;

/// Bytes that may stand in a string as they are.
constexpr std::array<bool, 256> isPlain = [] {
  std::array<bool, 256> plain{};
  for (int i = 0x20; i < 256; ++i)
    plain[i] = i != '"' && i != '\\';
  return plain;
}();

void appendUtf8(uint32_t point, std::string &out) {
  auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80)
    return put(point);
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

class Cursor {
public:
  explicit Cursor(std::string_view line) : line(line) {}

  char peek() const { return at < line.size() ? line[at] : '\0'; }
  bool atEnd() const { return at == line.size(); }
  void advance() { ++at; }

  bool take(char wanted) {
    if (atEnd() || line[at] != wanted)
      return false;
    ++at;
    return true;
  }

  void skipSpace() {
    while (!atEnd() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r' || line[at] == '\n'))
      ++at;
  }

  absl::Status expected(std::string_view what) const {
    if (atEnd())
      return absl::InvalidArgumentError(
          absl::StrCat("the line ends where ", std::string(what), " is expected (column ", at + 1, ")"));
    return absl::InvalidArgumentError(absl::StrCat(std::string(what), " is expected at column ", at + 1));
  }

  /// A string, the cursor on its opening quote. Appends its bytes to `out` unless that is null.
  absl::Status string(std::string *out);
  absl::Status number();
  absl::Status word(std::string_view spelled);
  /// A string, number or word; appends a string's bytes to `out` unless that is null.
  absl::Status scalar(std::string *out);

private:
  absl::Status escape(std::string *out);
  absl::Status hexDigits(uint32_t &value);
  bool digits();

  std::string_view line;
  size_t at = 0;
};

absl::Status Cursor::string(std::string *out) {
  if (!take('"'))
    return expected("a string");
  while (true) {
    size_t begin = at;
    while (at < line.size() && isPlain[static_cast<unsigned char>(line[at])])
      ++at;
    if (out)
      out->append(line.substr(begin, at - begin));
    if (take('"'))
      return absl::OkStatus();
    if (!take('\\'))
      return expected(atEnd() ? "the end of a string" : "an escape for a control character");
    if (absl::Status status = escape(out); !status.ok())
      return status;
  }
}

absl::Status Cursor::escape(std::string *out) {
  static constexpr std::string_view letters = "\"\\/bfnrt";
  static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  if (size_t which = letters.find(peek()); !atEnd() && which != std::string_view::npos) {
    advance();
    if (out)
      out->push_back(meanings[which]);
    return absl::OkStatus();
  }
  if (!take('u'))
    return expected("one of \"\\/bfnrtu after a backslash");
  uint32_t point;
  if (absl::Status status = hexDigits(point); !status.ok())
    return status;
  bool isHighSurrogate = point >= 0xD800 && point <= 0xDBFF;
  if (isHighSurrogate && line.substr(at, 2) == "\\u") {
    size_t before = at;
    at += 2;
    uint32_t low;
    if (absl::Status status = hexDigits(low); !status.ok())
      return status;
    if (low >= 0xDC00 && low <= 0xDFFF)
      point = 0x10000 + ((point - 0xD800) << 10 | (low - 0xDC00));
    else
      at = before;
  }
  // Half a surrogate pair is no character: it becomes the replacement character, as other readers have it.
  if (point >= 0xD800 && point <= 0xDFFF)
    point = 0xFFFD;
  if (out)
    appendUtf8(point, *out);
  return absl::OkStatus();
}

absl::Status Cursor::hexDigits(uint32_t &value) {
  value = 0;
  for (int i = 0; i < 4; ++i) {
    char digit = peek();
    uint32_t nibble;
    if (digit >= '0' && digit <= '9')
      nibble = digit - '0';
    else if (digit >= 'a' && digit <= 'f')
      nibble = digit - 'a' + 10;
    else if (digit >= 'A' && digit <= 'F')
      nibble = digit - 'A' + 10;
    else
      return expected("a hexadecimal digit");
    value = value << 4 | nibble;
    advance();
  }
  return absl::OkStatus();
}

bool Cursor::digits() {
  size_t begin = at;
  while (peek() >= '0' && peek() <= '9')
    ++at;
  return at != begin;
}

absl::Status Cursor::number() {
  take('-');
  bool leadingZero = take('0');
  if (!leadingZero && !digits())
    return expected("a value");
  if (take('.') && !digits())
    return expected("a digit");
  if (take('e') || take('E')) {
    if (!take('+'))
      take('-');
    if (!digits())
      return expected("a digit");
  }
  return absl::OkStatus();
}

absl::Status Cursor::word(std::string_view spelled) {
  if (line.substr(at, spelled.size()) != spelled)
    return expected("a value");
  at += spelled.size();
  return absl::OkStatus();
}

absl::Status Cursor::scalar(std::string *out) {
  switch (peek()) {
  case '"':
    return string(out);
  case 't':
    return word("true");
  case 'f':
    return word("false");
  case 'n':
    return word("null");
  default:
    return number();
  }
}

/// Where the walk stands between two tokens.
enum class Expect { Value, FirstElement, FirstKey, Key, AfterValue };

class LineWalk {
public:
  LineWalk(std::string_view line, std::string_view key, std::string &text)
      : cursor(line), key(key), text(text) {}
  absl::Status run();

private:
  absl::Status value();
  absl::Status memberName();
  absl::Status open(bool object);
  absl::Status afterValue();

  Cursor cursor;
  std::string_view key;
  std::string &text;
  std::string name;
  std::bitset<deepestNesting> isObject;
  size_t depth = 0;
  Expect expect = Expect::Value;
  bool isWanted = false;
  bool wasFound = false;
};

absl::Status LineWalk::run() {
  cursor.skipSpace();
  if (cursor.peek() != '{')
    return cursor.expected("a JSON object");
  do {
    absl::Status status;
    cursor.skipSpace();
    switch (expect) {
    case Expect::Value:
      status = value();
      break;
    case Expect::FirstElement:
    case Expect::FirstKey:
      if (bool object = expect == Expect::FirstKey; cursor.peek() == (object ? '}' : ']'))
        status = afterValue();
      else
        expect = object ? Expect::Key : Expect::Value;
      break;
    case Expect::Key:
      status = memberName();
      break;
    case Expect::AfterValue:
      status = afterValue();
      break;
    }
    if (!status.ok())
      return status;
  } while (depth != 0);
  cursor.skipSpace();
  if (!cursor.atEnd())
    return cursor.expected("the end of the line");
  if (!wasFound)
    return absl::InvalidArgumentError(absl::StrCat("the object has no key \"", std::string(key), "\""));
  return absl::OkStatus();
}

absl::Status LineWalk::value() {
  if (isWanted) {
    if (cursor.peek() != '"')
      return cursor.expected(absl::StrCat("a string for the key \"", std::string(key), "\""));
    isWanted = false;
    wasFound = true;
    expect = Expect::AfterValue;
    return cursor.string(&text);
  }
  if (cursor.take('{'))
    return open(true);
  if (cursor.take('['))
    return open(false);
  expect = Expect::AfterValue;
  return cursor.scalar(nullptr);
}

absl::Status LineWalk::open(bool object) {
  if (depth == deepestNesting)
    return absl::InvalidArgumentError(absl::StrCat("values are nested deeper than ", deepestNesting));
  isObject[depth++] = object;
  expect = object ? Expect::FirstKey : Expect::FirstElement;
  return absl::OkStatus();
}

absl::Status LineWalk::memberName() {
  name.clear();
  if (absl::Status status = cursor.string(depth == 1 ? &name : nullptr); !status.ok())
    return status;
  cursor.skipSpace();
  if (!cursor.take(':'))
    return cursor.expected("a colon");
  isWanted = depth == 1 && name == key;
  if (isWanted && wasFound)
    return absl::InvalidArgumentError(absl::StrCat("the key \"", std::string(key), "\" comes twice"));
  expect = Expect::Value;
  return absl::OkStatus();
}

absl::Status LineWalk::afterValue() {
  bool object = isObject[depth - 1];
  expect = Expect::AfterValue;
  if (cursor.take(object ? '}' : ']')) {
    --depth;
    return absl::OkStatus();
  }
  if (!cursor.take(','))
    return cursor.expected(object ? "a comma or }" : "a comma or ]");
  expect = object ? Expect::Key : Expect::Value;
  return absl::OkStatus();
}

} // namespace

absl::Status readJsonText(std::string_view line, std::string_view key, std::string &text) {
  text.clear();
  return LineWalk(line, key, text).run();
}

} // namespace weft
