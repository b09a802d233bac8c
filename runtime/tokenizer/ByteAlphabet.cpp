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

} // namespace weft
