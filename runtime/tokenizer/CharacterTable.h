//===- CharacterTable.h - What patterns ask of a character ----------------===//
//
// The general categories and White_Space of Unicode, as sets of which the split patterns of tokenizers are
// made, as the reference implementations sort them. One byte for each character, looked up in two steps.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_CHARACTERTABLE_H
#define WEFT_RUNTIME_TOKENIZER_CHARACTERTABLE_H

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weft {

/// Sets of characters, one bit each. Characters of no set: controls, formats, unassigned and private ones.
enum CharacterSet : uint8_t {
  UpperLetter = 1, ///< Lu, Lt
  LowerLetter = 2, ///< Ll
  OtherLetter = 4, ///< Lm, Lo
  Mark = 8,        ///< M
  Number = 16,     ///< N
  Symbol = 32,     ///< P, S
  WhiteSpace = 64, ///< the property White_Space
  LineBreak = 128, ///< CR and LF, which are white space too
  Letter = UpperLetter | LowerLetter | OtherLetter,
};

struct Character {
  char32_t code;
  uint8_t sets;
  uint8_t bytes;
};

class CharacterTable {
public:
  static const CharacterTable &get();

  uint8_t setsOf(char32_t code) const { return sets[blocks[code >> 8] * size_t{256} + (code & 255)]; }

  /// The character that begins at text[position], which exists. A byte that begins no well-formed UTF-8 is
  /// U+FFFD, one byte long.
  Character at(std::string_view text, size_t position) const {
    const auto byte = static_cast<unsigned char>(text[position]);
    if (byte < 0x80)
      return {byte, sets[byte], 1};
    return longCharacterAt(text, position);
  }

private:
  CharacterTable();
  Character longCharacterAt(std::string_view text, size_t position) const;

  std::array<uint16_t, 0x1100> blocks;
  std::vector<uint8_t> sets;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_CHARACTERTABLE_H
