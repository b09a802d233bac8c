//===- CharacterTable.cpp - What patterns ask of a character --------------===//
//
// The table is unfolded from the ranges of CharacterRanges.h when it is first asked for: 256 characters a
// block, equal blocks once. Block 0 holds ASCII, so that its bytes are looked up without the first step.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/CharacterTable.h"

#include "runtime/tokenizer/CharacterRanges.h"

#include <algorithm>
#include <span>

namespace weft {
namespace {

constexpr size_t characterCount = 0x110000;
constexpr size_t blockSize = 256;

std::vector<uint8_t> unfold() {
  std::vector<uint8_t> all(characterCount);
  constexpr std::span<const uint32_t> ranges = characterRanges;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const size_t end = i + 1 < ranges.size() ? ranges[i + 1] >> 8 : characterCount;
    std::fill(all.begin() + (ranges[i] >> 8), all.begin() + static_cast<std::ptrdiff_t>(end),
              static_cast<uint8_t>(ranges[i]));
  }
  return all;
}

} // namespace

CharacterTable::CharacterTable() : blocks{} {
  const std::vector<uint8_t> all = unfold();
  for (size_t block = 0; block < characterCount / blockSize; ++block) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(block * blockSize);
    size_t same = 0;
    while (
        same * blockSize < sets.size() &&
        !std::equal(begin, begin + blockSize, sets.begin() + static_cast<std::ptrdiff_t>(same * blockSize)))
      ++same;
    if (same * blockSize == sets.size())
      sets.insert(sets.end(), begin, begin + blockSize);
    blocks[block] = static_cast<uint16_t>(same);
  }
}

const CharacterTable &CharacterTable::get() {
  static const CharacterTable table;
  return table;
}

Character CharacterTable::longCharacterAt(std::string_view text, size_t position) const {
  const Character malformed = {0xFFFD, setsOf(0xFFFD), 1};
  const auto byteAt = [&](size_t offset) -> uint32_t {
    return position + offset < text.size() ? static_cast<unsigned char>(text[position + offset]) : 0;
  };
  const auto continues = [&](size_t offset) { return (byteAt(offset) & 0xC0) == 0x80; };
  const uint32_t lead = byteAt(0);
  if (lead < 0xC2 || lead > 0xF4 || !continues(1))
    return malformed;
  if (lead < 0xE0) {
    const char32_t code = (lead & 0x1F) << 6 | (byteAt(1) & 0x3F);
    return {code, setsOf(code), 2};
  }
  if (!continues(2))
    return malformed;
  if (lead < 0xF0) {
    const char32_t code = (lead & 0x0F) << 12 | (byteAt(1) & 0x3F) << 6 | (byteAt(2) & 0x3F);
    const bool isSurrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < 0x800 || isSurrogate ? malformed : Character{code, setsOf(code), 3};
  }
  if (!continues(3))
    return malformed;
  const char32_t code =
      (lead & 0x07) << 18 | (byteAt(1) & 0x3F) << 12 | (byteAt(2) & 0x3F) << 6 | (byteAt(3) & 0x3F);
  return code < 0x10000 || code > 0x10FFFF ? malformed : Character{code, setsOf(code), 4};
}

} // namespace weft
