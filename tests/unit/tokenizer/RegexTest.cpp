//===- RegexTest.cpp - Patterns run as the engine they were written for ---===//
//
// Expected pieces are those of Oniguruma (through the reference library) or of Rust's fancy-regex.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/Regex.h"
#include "runtime/tokenizer/RegexSplitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace weft;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// The matches of `pattern`, in order.
std::vector<std::string> matches(std::string_view pattern, std::string_view text,
                                 RegexDialect dialect = RegexDialect::Oniguruma) {
  absl::StatusOr<Regex> regex = Regex::compile(pattern, dialect);
  if (!regex.ok())
    return {std::string(regex.status().message())};
  std::vector<std::string> found;
  Regex::Scratch scratch;
  EXPECT_TRUE(regex
                  ->forEachSegment(text, scratch,
                                   [&](size_t begin, size_t end, bool isMatch) {
                                     if (isMatch)
                                       found.emplace_back(text.substr(begin, end - begin));
                                     return absl::OkStatus();
                                   })
                  .ok());
  return found;
}

std::string refusal(std::string_view pattern, RegexDialect dialect = RegexDialect::Oniguruma) {
  absl::StatusOr<Regex> regex = Regex::compile(pattern, dialect);
  return regex.ok() ? "accepted" : std::string(regex.status().message());
}

TEST(Regex, SpacesAreThoseOfUnicode) {
  // PCRE2 by itself counts U+180E among them.
  EXPECT_THAT(matches("\\s+", "a\u180E b\u00A0\u0085c"), ElementsAre(" ", "\u00A0\u0085"));
  EXPECT_THAT(matches("[^\\s]+", "a\u180E b"), ElementsAre("a\u180E", "b"));
}

TEST(Regex, WordsHoldMarksAndConnectors) {
  EXPECT_THAT(matches("\\w+", "e\u0301\u203Fx \u00B2\u00BD-\u2460"),
              ElementsAre("e\u0301\u203Fx", "\u00B2\u00BD"));
  EXPECT_THAT(matches("\\w+", "\u00B2 a\u200Db", RegexDialect::Rust), ElementsAre("a\u200Db"));
  EXPECT_THAT(matches("[^\\W\\d_]+", "ab_1c"), ElementsAre("ab", "c"));
  EXPECT_THAT(matches("[\\W_]+", "ab_ c"), ElementsAre("_ "));
  EXPECT_THAT(matches("\\bb\\w*", "ab ba e\u0301b"), ElementsAre("ba"));
}

TEST(Regex, LettersAreThoseOfUnicode16) {
  EXPECT_THAT(matches("\\p{L}+", "a\U00010EC2\U000323AF\u1C89 \U00011DE0"),
              ElementsAre("a\U00010EC2\U000323AF\u1C89"));
  EXPECT_THAT(matches("\\P{L}+", "a\U00010EC2-1"), ElementsAre("-1"));
  EXPECT_THAT(matches("[^\\P{L}x]+", "axb"), ElementsAre("a", "b"));
}

TEST(Regex, LinesAndTextsEndAsTheEngineSays) {
  EXPECT_THAT(matches("\\s+$", "a  \nb  "), ElementsAre("  ", "  "));
  EXPECT_THAT(matches("\\s+$", "a  \nb  ", RegexDialect::Rust), ElementsAre("  "));
  EXPECT_THAT(matches("^.", "ab\ncd"), ElementsAre("a", "c"));
  EXPECT_THAT(matches("^.", "ab\ncd", RegexDialect::Rust), ElementsAre("a"));
  EXPECT_THAT(matches("(?m:a.)b", "a\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(matches("a.b", "a\nb a\rb"), ElementsAre("a\rb"));
}

TEST(Regex, RubysOwnSpellings) {
  EXPECT_THAT(matches("\\h+", "xfF0g \t"), ElementsAre("fF0"));
  // An interval takes no possessive sign, and {n}? is an optional group.
  EXPECT_THAT(matches("a{2}+", "aaaaa"), ElementsAre("aaaa"));
  EXPECT_THAT(matches("ba{2}?c", "bc baac"), ElementsAre("bc", "baac"));
  EXPECT_THAT(matches("a{2}+a", "aaaaa"), ElementsAre("aaaaa"));
  EXPECT_THAT(matches("a{1,2}+a", "aa", RegexDialect::Rust), ElementsAre());
  EXPECT_THAT(matches("a{,2}b", "aaab"), ElementsAre("aab"));
  // An option reaches to the end of the group, alternatives included.
  EXPECT_THAT(matches("x(?i)a|b", "xB xA B"), ElementsAre("xB", "xA"));
  EXPECT_THAT(matches("a++b|a", "aab a"), ElementsAre("aab", "a"));
}

TEST(Regex, CaseFoldsAsUnicodeDoes) {
  EXPECT_THAT(matches("(?i:'s|'ll)", "'S '\u017F 'lL"), ElementsAre("'S", "'\u017F", "'lL"));
}

TEST(Regex, EmptyMatchesCountOnce) {
  EXPECT_THAT(matches("x*", "axb"), ElementsAre("", "x", ""));
  EXPECT_THAT(matches("(?=b)", "abab"), ElementsAre("", ""));
}

TEST(Regex, RefusesWhatItCannotRunExactly) {
  EXPECT_THAT(refusal("(a)\\1"), HasSubstr("\"\\1\" at byte 3, which is not supported"));
  EXPECT_THAT(refusal("\\p{Greek}"), HasSubstr("the property \"Greek\""));
  EXPECT_THAT(refusal("[a&&b]"), HasSubstr("\"&&\" within a class"));
  EXPECT_THAT(refusal("[a[b]]"), HasSubstr("a class within a class"));
  EXPECT_THAT(refusal("(?<name>a)"), HasSubstr("\"(?<\""));
  EXPECT_THAT(refusal("(?x)a b"), HasSubstr("\"(?x\""));
  EXPECT_THAT(refusal("(?i)stra\u00DFe"), HasSubstr("where case does not count"));
  EXPECT_THAT(refusal("(?i)class"), HasSubstr("\"ss\" where case does not count"));
  EXPECT_THAT(refusal("(?i)\\p{Lu}"), HasSubstr("\"Lu\" where case does not count"));
  EXPECT_THAT(refusal("\\X"), HasSubstr("\"\\X\""));
  EXPECT_THAT(refusal("(?<=a+)b"), HasSubstr("cannot run here: lookbehind assertion is not fixed length"));
  EXPECT_THAT(refusal("a)"), HasSubstr("\")\" without its \"(\""));
  EXPECT_THAT(refusal("*a"), HasSubstr("a repeat of nothing"));
  EXPECT_THAT(refusal(std::string(300, '(')), HasSubstr("groups within each other"));
  EXPECT_THAT(refusal("(?i)a", RegexDialect::Rust), HasSubstr("options without a group"));
}

TEST(Regex, ALineWithoutEndTakesNoStack) {
  const std::string letters(size_t{20} << 20, 'a');
  EXPECT_EQ(matches(" ?\\p{L}+| ?\\p{N}+|\\s+(?!\\S)|\\s+", letters).size(), 1u);
  const std::string spaces(size_t{1} << 20, ' ');
  EXPECT_EQ(matches("\\s+(?!\\S)|\\s+", spaces + "x").size(), 2u);
}

TEST(RegexSplitter, PiecesAreTheMatches) {
  absl::StatusOr<std::unique_ptr<Splitter>> splitter = createRegexSplitter("[a-z]+|\\d", RegexDialect::Rust);
  ASSERT_TRUE(splitter.ok());
  std::unique_ptr<Splitter::Scratch> scratch = (*splitter)->makeScratch();
  // Malformed bytes are looked at as U+FFFD, and keep their places.
  const std::string text = "ab\xFF\xFE"
                           "1 2cd\xE4";
  std::vector<std::string> pieces;
  std::vector<Splitter::Piece> room(2);
  for (size_t position = 0;;) {
    absl::StatusOr<size_t> count = (*splitter)->split(text, position, room, scratch.get());
    ASSERT_TRUE(count.ok());
    for (size_t i = 0; i < *count; ++i)
      pieces.push_back(text.substr(room[i].begin, room[i].end - room[i].begin));
    if (*count < room.size())
      break;
    position = room[*count - 1].end;
  }
  EXPECT_THAT(pieces, ElementsAre("ab", "1", "2", "cd"));
}

} // namespace
