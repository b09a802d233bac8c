//===- PatternMatcher.h - The next piece of a well-known pattern ----------===//
//
// What a backtracking engine would find, found by looking at each character once or twice: the comments name
// the alternative of the regular expression that a step stands for. Letters, numbers, white space and
// "symbols" (all that is none of these) never overlap, so the first character decides, save for the one
// character that a word may begin with and the space before symbols.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_PATTERNMATCHER_H
#define WEFT_RUNTIME_TOKENIZER_PATTERNMATCHER_H

#include "runtime/tokenizer/CharacterTable.h"
#include "runtime/tokenizer/WellKnownPatterns.h"

namespace weft {

/// Runs of characters of the same sets.
class CharacterRuns {
public:
  CharacterRuns(std::string_view text, const CharacterTable &table) : text(text), table(table) {}

protected:
  Character at(size_t position) const { return table.at(text, position); }
  uint8_t setsAt(size_t position) const { return position < text.size() ? at(position).sets : 0; }

  /// The end of the run from `position` of characters that are in one of `sets`.
  size_t runOf(uint8_t sets, size_t position) const {
    return runWhile([sets](uint8_t of) { return (of & sets) != 0; }, position);
  }
  /// The same of characters that are in none of them.
  size_t runOutside(uint8_t sets, size_t position) const {
    return runWhile([sets](uint8_t of) { return (of & sets) == 0; }, position);
  }
  template <class Test> size_t runWhile(Test test, size_t position) const {
    while (position < text.size()) {
      const Character character = at(position);
      if (!test(character.sets))
        break;
      position += character.bytes;
    }
    return position;
  }

  /// The end of white space from `position`: `\s*[\r\n]+` (unless the pattern has none), `\s+(?!\S)`, `\s+`.
  /// `end` is where the text that the pattern sees ends.
  size_t whiteSpace(size_t position, bool endsAtLineBreak, bool joinsFinalSpace) const {
    size_t run = position, last = position, behindLineBreak = position;
    while (run < text.size()) {
      const Character character = at(run);
      if ((character.sets & WhiteSpace) == 0)
        break;
      last = run;
      run += character.bytes;
      if (character.sets & LineBreak)
        behindLineBreak = run;
    }
    if (joinsFinalSpace && run == text.size())
      return run;
    if (endsAtLineBreak && behindLineBreak > position)
      return behindLineBreak;
    return run == text.size() || last == position ? run : last;
  }

  std::string_view text;
  const CharacterTable &table;
};

template <SplitPattern pattern> class PatternMatcher : private CharacterRuns {
public:
  using CharacterRuns::CharacterRuns;

  /// The end of the piece that begins at `position`, which exists.
  size_t next(size_t position) const {
    constexpr bool contractsFirst =
        pattern.contractions == Contractions::Lower || pattern.contractions == Contractions::AnyCase;
    const Character first = at(position);
    if constexpr (contractsFirst) {
      if (first.code == '\'')
        if (const size_t length = contraction(position); length != 0)
          return position + length;
    }
    const size_t second = position + first.bytes;
    if (const size_t end = word(position, first); end != 0)
      return end;
    if (first.sets & Number)
      return numbers(position);
    const uint8_t next = setsAt(second);
    if constexpr (pattern.digits == 0) {
      if (first.code == ' ' && (next & Number))
        return numbers(second);
    }
    if ((first.sets & WhiteSpace) == 0)
      return symbols(position);
    if (first.code == ' ' && second < text.size() && (next & (WhiteSpace | Letter | Number)) == 0)
      return symbols(second);
    return whiteSpace(position, pattern.endsAtLineBreak, pattern.joinsFinalSpace);
  }

private:
  /// `[^\r\n\p{L}\p{N}]?\p{L}+`, ` ?\p{L}+`, or the two alternatives of cased words; 0: no word here.
  size_t word(size_t position, Character first) const {
    const size_t second = position + first.bytes;
    const bool mayPrefix =
        pattern.hasAnyPrefix ? (first.sets & (LineBreak | Letter | Number)) == 0 : first.code == ' ';
    if constexpr (!pattern.isCased) {
      if (first.sets & Letter)
        return runOf(Letter, second);
      return mayPrefix && (setsAt(second) & Letter) ? runOf(Letter, second) : 0;
    } else {
      size_t end = mayPrefix ? smallWord(second) : 0;
      if (end == 0 && (first.sets & (Letter | Mark)))
        end = smallWord(position);
      if (end == 0 && mayPrefix)
        end = capitalWord(second);
      if (end == 0 && (first.sets & (Letter | Mark)))
        end = capitalWord(position);
      if constexpr (pattern.contractions == Contractions::AtWordsEnd) {
        if (end != 0 && end < text.size() && text[end] == '\'')
          end += contraction(end);
      }
      return end;
    }
  }

  /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`: the first part takes all it can, and gives
  /// back up to a character that the second takes as well. 0: none.
  size_t smallWord(size_t position) const {
    constexpr uint8_t both = OtherLetter | Mark;
    size_t behindBoth = 0;
    while (position < text.size()) {
      const Character character = at(position);
      if (character.sets & LowerLetter)
        return runOf(LowerLetter | both, position);
      if ((character.sets & (UpperLetter | both)) == 0)
        break;
      position += character.bytes;
      if (character.sets & both)
        behindBoth = position;
    }
    return behindBoth;
  }

  /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*` where smallWord() found none. 0: none.
  size_t capitalWord(size_t position) const {
    const size_t end = runOf(UpperLetter | OtherLetter | Mark, position);
    return end == position ? 0 : end;
  }

  /// The length of 's 't 're 've 'm 'll 'd at `position`, where the apostrophe is; 0: none.
  size_t contraction(size_t position) const {
    constexpr bool isFolded = pattern.contractions != Contractions::Lower;
    const auto letterAt = [&](size_t offset) {
      const size_t where = position + offset;
      const char letter = where < text.size() ? text[where] : '\0';
      return isFolded && letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter;
    };
    const char first = letterAt(1), second = letterAt(2);
    if (first == 's' || first == 't' || first == 'm' || first == 'd')
      return 2;
    if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l'))
      return 3;
    // The long s is an s in another case.
    return isFolded && text.substr(position + 1).starts_with("\u017F") ? 3 : 0;
  }

  size_t numbers(size_t position) const {
    if constexpr (pattern.digits == 0)
      return runOf(Number, position);
    for (int count = 0; count < pattern.digits && (setsAt(position) & Number); ++count)
      position += at(position).bytes;
    return position;
  }

  /// `[^\s\p{L}\p{N}]+[\r\n]*`
  size_t symbols(size_t position) const {
    size_t end = runOutside(WhiteSpace | Letter | Number, position);
    if constexpr (pattern.hasLineBreakTail)
      while (end < text.size() &&
             (text[end] == '\r' || text[end] == '\n' || (pattern.hasSlashTail && text[end] == '/')))
        ++end;
    return end;
  }
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_PATTERNMATCHER_H
