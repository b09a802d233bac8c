//===- CharactersTest.cpp - What each character of Unicode is -------------===//
//
// characters.json holds what the reference library says of every character (generate.py wrote it).
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/CharacterKinds.h"
#include "runtime/tokenizer/Regex.h"
#include "runtime/tokenizer/Utf8Text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

using namespace weft;

namespace {

using Ranges = std::vector<std::vector<uint32_t>>;

constexpr char32_t lastCharacter = 0x10FFFF;

bool isSurrogate(char32_t code) { return code >= 0xD800 && code <= 0xDFFF; }

const nlohmann::json &expected() {
  static const nlohmann::json all = [] {
    std::ifstream file(WEFT_TOKENIZER_CHARACTERS);
    return nlohmann::json::parse(file);
  }();
  return all;
}

void append(Ranges &ranges, uint32_t code) {
  if (!ranges.empty() && ranges.back()[1] + 1 == code)
    ranges.back()[1] = code;
  else
    ranges.push_back({code, code});
}

Ranges rangesOf(bool (*isMember)(char32_t)) {
  Ranges ranges;
  for (char32_t code = 0; code <= lastCharacter; ++code)
    if (!isSurrogate(code) && isMember(code))
      append(ranges, code);
  return ranges;
}

TEST(Characters, PatternsSortThemAsOniguruma) {
  std::string all;
  std::vector<char32_t> codeAt;
  for (char32_t code = 0; code <= lastCharacter; ++code)
    if (!isSurrogate(code)) {
      appendUtf8(all, code);
      codeAt.resize(all.size(), code);
    }
  for (const auto &[name, ranges] : expected()["sets"].items()) {
    if (!name.starts_with('\\'))
      continue;
    absl::StatusOr<Regex> regex = Regex::compile(name, RegexDialect::Oniguruma);
    ASSERT_TRUE(regex.ok()) << regex.status();
    Ranges found;
    Regex::Scratch scratch;
    ASSERT_TRUE(regex
                    ->forEachSegment(all, scratch,
                                     [&](size_t begin, size_t, bool isMatch) {
                                       if (isMatch)
                                         append(found, codeAt[begin]);
                                       return absl::OkStatus();
                                     })
                    .ok());
    EXPECT_EQ(found, ranges.get<Ranges>()) << name;
  }
}

TEST(Characters, PreTokenizersSortThemAsRust) {
  const nlohmann::json &sets = expected()["sets"];
  EXPECT_EQ(rangesOf(&isNumericCharacter), sets["numeric"].get<Ranges>());
  EXPECT_EQ(rangesOf(&isPunctuationCharacter), sets["punctuation"].get<Ranges>());
  EXPECT_EQ(rangesOf(&isMarkCharacter), sets["mark"].get<Ranges>());
  EXPECT_EQ(rangesOf(&isSpaceCharacter), sets["\\s"].get<Ranges>());
  EXPECT_EQ(rangesOf([](char32_t code) { return !isWordCharacter(code); }), sets["notWord"].get<Ranges>());
}

TEST(Characters, SmallLettersAreThoseOfRust) {
  size_t changed = 0;
  for (char32_t code = 0; code <= lastCharacter; ++code) {
    if (isSurrogate(code))
      continue;
    std::string self;
    std::string small;
    appendUtf8(self, code);
    appendLowercase(small, code);
    if (small == self)
      continue;
    ASSERT_LT(changed, expected()["lowercase"].size());
    EXPECT_EQ(nlohmann::json({uint32_t{code}, small}), expected()["lowercase"][changed]);
    ++changed;
  }
  EXPECT_EQ(changed, expected()["lowercase"].size());
}

} // namespace
