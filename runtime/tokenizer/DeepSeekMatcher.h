//===- DeepSeekMatcher.h - Three patterns, one inside the other -----------===//
//
// Numbers are cut out first, then runs of Chinese and Japanese characters, and a third pattern splits what is
// left between them; it sees nothing beyond. Here the first character decides which of the three it is.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_DEEPSEEKMATCHER_H
#define WEFT_RUNTIME_TOKENIZER_DEEPSEEKMATCHER_H

#include "runtime/tokenizer/PatternMatcher.h"

namespace weft {

class DeepSeekMatcher : private CharacterRuns {
public:
  using CharacterRuns::CharacterRuns;

  size_t next(size_t position) const {
    const Character first = at(position);
    if (first.sets & Number)
      return numbers(position);
    if (isEastAsian(first.code))
      return runWhileCharacter(isEastAsian, position);
    if (const size_t end = match(position); end != 0)
      return end;
    // Nothing of the third pattern begins here: all up to where something does is one piece.
    position += first.bytes;
    while (position < text.size() && isInside(position) && match(position) == 0)
      position += at(position).bytes;
    return position;
  }

private:
  static bool isEastAsian(char32_t code) {
    return (code >= 0x4E00 && code <= 0x9FA5) || (code >= 0x3040 && code <= 0x30FF);
  }
  /// Whether the third pattern sees the character.
  bool isInside(size_t position) const {
    const Character character = at(position);
    return (character.sets & Number) == 0 && !isEastAsian(character.code);
  }
  template <class Test> size_t runWhileCharacter(Test test, size_t position) const {
    while (position < text.size() && test(at(position).code))
      position += at(position).bytes;
    return position;
  }

  /// `\p{N}{1,3}`
  size_t numbers(size_t position) const {
    for (int count = 0; count < 3 && (setsAt(position) & Number); ++count)
      position += at(position).bytes;
    return position;
  }

  uint8_t insideSetsAt(size_t position) const {
    return position < text.size() && isInside(position) ? at(position).sets : 0;
  }
  size_t insideRunOf(uint8_t sets, size_t position) const {
    while (insideSetsAt(position) & sets)
      position += at(position).bytes;
    return position;
  }
  static bool isAsciiLetter(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  }

  /// The end of what the third pattern matches at `position`; 0: nothing.
  size_t match(size_t position) const {
    const Character first = at(position);
    const size_t second = position + first.bytes;
    // [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+
    if (first.code < 0x80 && (first.sets & Symbol) && second < text.size() && isAsciiLetter(text[second])) {
      size_t end = second;
      while (end < text.size() && isAsciiLetter(text[end]))
        ++end;
      return end;
    }
    // [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
    if (first.sets & (Letter | Mark))
      return insideRunOf(Letter | Mark, second);
    if ((first.sets & (LineBreak | Symbol)) == 0 && (insideSetsAt(second) & (Letter | Mark)))
      return insideRunOf(Letter | Mark, second);
    //  ?[\p{P}\p{S}]+[\r\n]*
    const bool isSpaceBefore = first.code == ' ' && (insideSetsAt(second) & Symbol);
    if ((first.sets & Symbol) || isSpaceBefore) {
      size_t end = insideRunOf(Symbol, second);
      while (end < text.size() && (text[end] == '\r' || text[end] == '\n'))
        ++end;
      return end;
    }
    if ((first.sets & WhiteSpace) == 0)
      return 0;
    size_t run = insideRunOf(WhiteSpace, position);
    const bool isLast = run == text.size() || !isInside(run);
    const DeepSeekMatcher upToRun(isLast ? text.substr(0, run) : text, table);
    return upToRun.whiteSpace(position, true, false);
  }
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_DEEPSEEKMATCHER_H
