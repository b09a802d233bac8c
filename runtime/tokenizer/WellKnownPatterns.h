//===- WellKnownPatterns.h - Split patterns that many tokenizers share ----===//
//
// The patterns of the well-known tokenizers differ in a handful of points, which are the members here. One
// matcher, written for all of them, is compiled once for each combination that exists.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_WELLKNOWNPATTERNS_H
#define WEFT_RUNTIME_TOKENIZER_WELLKNOWNPATTERNS_H

#include <cstdint>

namespace weft {

enum class Contractions : uint8_t {
  None,
  Lower,      ///< 's 't 're 've 'm 'll 'd are pieces
  AnyCase,    ///< in any case
  AtWordsEnd, ///< in any case, and belong to the word before
};

/// How a pattern cuts; written in the order in which its alternatives are tried.
struct SplitPattern {
  Contractions contractions = Contractions::AnyCase;
  /// What a word may begin with: any character but letters, numbers, CR and LF. Otherwise one space.
  bool hasAnyPrefix = true;
  /// A word is capital letters, then small ones; then a new one begins.
  bool isCased = false;
  /// Numbers of a piece at most; 0: all, and a space before.
  uint8_t digits = 3;
  /// Line breaks after symbols belong to them, and slashes as well.
  bool hasLineBreakTail = true;
  bool hasSlashTail = false;
  /// White space up to its last line break is a piece.
  bool endsAtLineBreak = true;
  /// White space that ends the text is one piece, whatever line breaks are in it.
  bool joinsFinalSpace = false;

  bool operator==(const SplitPattern &) const = default;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_WELLKNOWNPATTERNS_H
