//===- ByteAlphabet.cpp - Bytes as visible characters ---------------------===//
//
// All characters of the alphabet lie below U+0144: one table each way.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/ByteAlphabet.h"

#include "runtime/tokenizer/CharacterTable.h"
#include "runtime/tokenizer/Utf8Text.h"

#include <array>
#include <cstdint>

namespace weft {
namespace {

constexpr size_t alphabetEnd = 0x144;
constexpr int16_t noByte = -1;

struct Alphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, alphabetEnd> byte{};
};

constexpr Alphabet alphabet = [] {
  Alphabet result;
  result.byte.fill(noByte);
  uint16_t next = 0x100;
  for (uint16_t byte = 0; byte < 256; ++byte) {
    const bool isVisible = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    result.character[byte] = isVisible ? byte : next++;
    result.byte[result.character[byte]] = static_cast<int16_t>(byte);
  }
  return result;
}();

} // namespace

std::string toByteAlphabet(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (char byte : bytes)
    appendUtf8(text, alphabet.character[static_cast<unsigned char>(byte)]);
  return text;
}

std::optional<std::string> fromByteAlphabet(std::string_view text) {
  const CharacterTable &table = CharacterTable::get();
  std::string bytes;
  for (size_t position = 0; position < text.size();) {
    const Character next = table.at(text, position);
    position += next.bytes;
    if (next.code >= alphabetEnd || alphabet.byte[next.code] == noByte)
      return std::nullopt;
    bytes += static_cast<char>(alphabet.byte[next.code]);
  }
  return bytes;
}

std::optional<char> byteOfFallback(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>'))
    return std::nullopt;
  const auto digitOf = [](char digit) -> int {
    const bool isDecimal = digit >= '0' && digit <= '9';
    const char small = static_cast<char>(digit | 0x20);
    return isDecimal ? digit - '0' : small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
  };
  const int high = digitOf(token[3]);
  const int low = digitOf(token[4]);
  if (high < 0 || low < 0)
    return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

} // namespace weft
