//===- SplitterTest.cpp - Where the well-known patterns cut ---------------===//
#include "runtime/tokenizer/Splitter.h"

#include <gtest/gtest.h>

#include <array>

namespace weft {
namespace {

std::unique_ptr<Splitter> named(std::string_view name) {
  const std::string pattern(wellKnownPattern(name, RegexDialect::Rust));
  return createWellKnownSplitter(std::span(&pattern, 1), RegexDialect::Rust);
}

/// The pieces, joined by |.
std::string cut(std::string_view name, std::string_view text) {
  const std::unique_ptr<Splitter> splitter = named(name);
  std::array<Splitter::Piece, 3> pieces;
  std::string joined;
  size_t position = 0;
  while (true) {
    const size_t count = splitter->split(text, position, pieces, nullptr).value();
    for (const Splitter::Piece &piece : std::span(pieces).first(count)) {
      joined += (joined.empty() ? "" : "|") + std::string(text.substr(piece.begin, piece.end - piece.begin));
      position = piece.end;
    }
    if (count < pieces.size())
      return joined;
  }
}

TEST(Splitter, Gpt2KeepsOneSpaceBeforeWordsNumbersAndSymbols) {
  EXPECT_EQ(cut("gpt2", "I'm  here 2024 times!! 'S"), "I|'m| | here| 2024| times|!!| '|S");
  EXPECT_EQ(cut("gpt2", "a\n\n  b \n"), "a|\n\n | b| \n");
}

TEST(Splitter, Cl100kTakesThreeNumbersAndAnyCharacterBeforeAWord) {
  EXPECT_EQ(cut("cl100k", "it'S (word) 12345\tx"), "it|'S| (|word|)| |123|45|\tx");
  EXPECT_EQ(cut("cl100k", "!\r\n\n  x"), "!\r\n\n| | x");
}

TEST(Splitter, WhiteSpaceEndsAtItsLastLineBreakButAtTheEndOfTheTextOnlyInSomePatterns) {
  EXPECT_EQ(cut("llama3", "a \n  "), "a| \n|  ");
  EXPECT_EQ(cut("cl100k", "a \n  "), "a| \n  ");
  EXPECT_EQ(cut("cl100k", "a \n  b"), "a| \n| | b");
}

TEST(Splitter, Qwen2TakesNumbersOneByOne) { EXPECT_EQ(cut("qwen2", "a12"), "a|1|2"); }

TEST(Splitter, O200kBeginsAWordAtACapitalAndKeepsContractionsWithIt) {
  EXPECT_EQ(cut("o200k", "camelCaseHTTPServer don't I'LL"), "camel|Case|HTTPServer| don't| I'LL");
  EXPECT_EQ(cut("o200k", "\u4E2DAB"), "\u4E2D|AB");
  EXPECT_EQ(cut("o200k", "a//\n/b"), "a|//\n/|b");
  EXPECT_EQ(cut("tekken", "don't 12"), "don|'t| |1|2");
}

TEST(Splitter, AByteThatIsNoUtf8IsASymbolAndStays) {
  EXPECT_EQ(cut("cl100k", "a\xFF"
                          "b\xE4\xB8"),
            "a|\xFF"
            "b|\xE4\xB8");
}

TEST(Splitter, APatternThatIsSpelledOtherwiseIsNotWellKnown) {
  std::string pattern(wellKnownPattern("cl100k", RegexDialect::Rust));
  pattern.back() = 'S';
  EXPECT_EQ(createWellKnownSplitter(std::span(&pattern, 1), RegexDialect::Rust), nullptr);
  EXPECT_TRUE(wellKnownPattern("cl100", RegexDialect::Rust).empty());
}

TEST(Splitter, WhatMeansSomethingElseToOnigurumaIsNotWellKnownThere) {
  // {1,3}+ is possessive to Rust's engine, and any number of numbers to Oniguruma in Ruby's syntax.
  const std::string pattern(wellKnownPattern("cl100k", RegexDialect::Rust));
  EXPECT_EQ(createWellKnownSplitter(std::span(&pattern, 1), RegexDialect::Oniguruma), nullptr);
  EXPECT_TRUE(wellKnownPattern("cl100k", RegexDialect::Oniguruma).empty());
  EXPECT_EQ(wellKnownPatternNames(RegexDialect::Oniguruma), "gpt2, llama3, qwen2, o200k, tekken");
}

TEST(Splitter, PiecesOfAnIndependentPrefixAreThoseOfTheWholeText) {
  const std::string text = "We'll see: \u4E2D\u6587\uFF0C 12 x\u0301y. ThisIs 'S odd\n\n  and\tlast ";
  for (std::string_view name : {"gpt2", "llama3", "cl100k", "qwen2", "o200k", "tekken"}) {
    const std::unique_ptr<Splitter> splitter = named(name);
    const std::string whole = cut(name, text);
    for (size_t end = 0; end <= text.size(); ++end) {
      const size_t prefix = splitter->independentPrefix(std::string_view(text).substr(0, end));
      ASSERT_LE(prefix, end);
      if (prefix != 0)
        EXPECT_EQ(cut(name, text.substr(0, prefix)) + "|" + cut(name, text.substr(prefix)), whole)
            << name << " " << end;
    }
    EXPECT_GT(splitter->independentPrefix(text), text.size() - 8);
  }
}

} // namespace
} // namespace weft
