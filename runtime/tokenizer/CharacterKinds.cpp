//===- CharacterKinds.cpp - Kinds of characters by the reference's tables -===//
//
// ICU knows when a character came (its age): what is younger than a library's tables is unassigned to it.
// Characters that are younger than ICU's own tables, and those that changed their category since, are listed.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/CharacterKinds.h"

#include "runtime/tokenizer/CharacterTable.h"
#include "runtime/tokenizer/UnicodeAdditions.h"
#include "runtime/tokenizer/Utf8Text.h"

#include <unicode/uchar.h>

#include <string_view>

namespace weft {
namespace {

bool isOfAge(char32_t code, uint8_t newest) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(code), age);
  return age[0] != 0 && age[0] <= newest;
}

bool hasCategory(char32_t code, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(code)) & mask) != 0;
}

/// Whether `code` is younger than Unicode 14 and of the category.
bool isAddition(char32_t code, std::string_view category) {
  for (const UnicodeAddition &addition : unicodeAdditions)
    if (code >= addition.first && code <= addition.last)
      return std::string_view(addition.category.data(), addition.category.size()).starts_with(category);
  return false;
}

bool isBetween(char32_t code, char32_t first, char32_t last) { return code >= first && code <= last; }

} // namespace

bool isSpaceCharacter(char32_t code) {
  return isBetween(code, 9, 13) || code == ' ' || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         isBetween(code, 0x2000, 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
         code == 0x205F || code == 0x3000;
}

bool isWordCharacter(char32_t code) {
  const uint8_t sets = CharacterTable::get().setsOf(code);
  if ((sets & (Letter | Mark)) != 0)
    return true;
  const bool isCircled = isBetween(code, 0x24B6, 0x24E9) || isBetween(code, 0x1F130, 0x1F149) ||
                         isBetween(code, 0x1F150, 0x1F169) || isBetween(code, 0x1F170, 0x1F189);
  return isCircled || code == 0x200C || code == 0x200D ||
         hasCategory(code, U_GC_ND_MASK | U_GC_NL_MASK | U_GC_PC_MASK) || isAddition(code, "Nd") ||
         isAddition(code, "Nl");
}

bool isNumericCharacter(char32_t code) {
  return (CharacterTable::get().setsOf(code) & Number) != 0 || isBetween(code, 0x11DE0, 0x11DE9) ||
         isBetween(code, 0x16FF4, 0x16FF6);
}

bool isPunctuationCharacter(char32_t code) {
  if (code < 0x80)
    return isBetween(code, '!', '/') || isBetween(code, ':', '@') || isBetween(code, '[', '`') ||
           isBetween(code, '{', '~');
  return (hasCategory(code, U_GC_P_MASK) && isOfAge(code, 8)) || code == 0x166D || code == 0x111C9;
}

bool isMarkCharacter(char32_t code) {
  return (hasCategory(code, U_GC_M_MASK) && isOfAge(code, 9) && code != 0x111C9) || code == 0x1CF2 ||
         code == 0x1CF3;
}

void appendLowercase(std::string &text, char32_t code) {
  struct Pairs {
    char32_t first;
    char32_t last;
    char32_t small;
  };
  constexpr Pairs additions[] = {{0x1C89, 0x1C89, 0x1C8A},    {0xA7CB, 0xA7CB, 0x264},
                                 {0xA7CC, 0xA7CC, 0xA7CD},    {0xA7CE, 0xA7CE, 0xA7CF},
                                 {0xA7D2, 0xA7D2, 0xA7D3},    {0xA7D4, 0xA7D4, 0xA7D5},
                                 {0xA7DA, 0xA7DA, 0xA7DB},    {0xA7DC, 0xA7DC, 0x19B},
                                 {0x10D50, 0x10D65, 0x10D70}, {0x16EA0, 0x16EB8, 0x16EBB}};
  // A capital I with a dot is the one character whose small form is two.
  if (code == 0x130) {
    text += "i\xCC\x87";
    return;
  }
  for (const Pairs &pairs : additions)
    if (isBetween(code, pairs.first, pairs.last))
      return appendUtf8(text, pairs.small + (code - pairs.first));
  appendUtf8(text, static_cast<char32_t>(u_tolower(static_cast<UChar32>(code))));
}

} // namespace weft
