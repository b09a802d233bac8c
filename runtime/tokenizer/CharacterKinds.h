//===- CharacterKinds.h - Kinds of characters by the reference's tables ---===//
//
// The reference library asks several libraries of its own what a character is, each with the tables of some
// version of Unicode: 9 for marks, 8 for punctuation, 16 for words, 17 for numbers and small letters. The
// answers here are the same for every character.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_CHARACTERKINDS_H
#define WEFT_RUNTIME_TOKENIZER_CHARACTERKINDS_H

#include <string>

namespace weft {

/// The property White_Space.
bool isSpaceCharacter(char32_t code);
/// \w of Rust: letters, marks, decimal digits, connectors, joiners.
bool isWordCharacter(char32_t code);
/// General category N.
bool isNumericCharacter(char32_t code);
/// General category P, and the ASCII symbols.
bool isPunctuationCharacter(char32_t code);
/// General category M.
bool isMarkCharacter(char32_t code);

/// Appends the small letter (or letters) of `code`, whatever stands around it.
void appendLowercase(std::string &text, char32_t code);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_CHARACTERKINDS_H
