//===- TokenizerRefusalTest.cpp - What tokenizer files may not ask for ----===//
//
// Whatever is not done, or makes no sense, is refused by its path and name; and malformed text has a meaning.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/TokenizerFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace weft;
using testing::HasSubstr;

namespace {

constexpr const char *smallest = R"({
  "added_tokens": [{"id": 0, "content": "</s>", "special": true}],
  "model": {"type": "BPE", "vocab": {"</s>": 0, "a": 1, "b": 2, "ab": 3, "\uFFFD": 4}, "merges": ["a b"]}})";

absl::StatusOr<std::unique_ptr<Tokenizer>> read(const std::string &contents, const std::string &end = "") {
  return readTokenizerFile({"t.json", contents, "", {}, end});
}

/// The error of the smallest tokenizer with `patch` (RFC 7396) applied.
std::string errorWith(const char *patch) {
  nlohmann::json json = nlohmann::json::parse(smallest);
  json.merge_patch(nlohmann::json::parse(patch));
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = read(json.dump());
  return tokenizer.ok() ? "accepted" : std::string(tokenizer.status().message());
}

TEST(TokenizerRefusal, TheSmallestFileIsAccepted) {
  EXPECT_EQ(errorWith("{}"), "accepted");
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = read(smallest);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ(*(*tokenizer)->encode("abba"), (std::vector<int32_t>{3, 2, 1}));
  EXPECT_EQ((*tokenizer)->endOfDocument(), 0);
  EXPECT_EQ((*tokenizer)->vocabularySize(), 5);
}

TEST(TokenizerRefusal, OtherModelsAndParts) {
  EXPECT_EQ(errorWith(R"({"model": {"type": "Unigram"}})"),
            "t.json: model.type: \"Unigram\" is not supported. Supported: BPE.");
  EXPECT_THAT(errorWith(R"({"model": {"dropout": 0.1}})"), HasSubstr("model.dropout: 0.1 is not supported"));
  EXPECT_THAT(errorWith(R"({"model": {"end_of_word_suffix": "</w>"}})"),
              HasSubstr("model.end_of_word_suffix: \"</w>\" is not supported"));
  EXPECT_THAT(errorWith(R"({"model": {"max_chars": 3}})"),
              HasSubstr("model.max_chars: this field is not known"));
  EXPECT_THAT(errorWith(R"({"normalizer": {"type": "Precompiled"}})"),
              HasSubstr("normalizer.type: \"Precompiled\" is not supported"));
  EXPECT_THAT(
      errorWith(
          R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "BertPreTokenizer"}]}})"),
      HasSubstr("pre_tokenizer.pretokenizers[0].type: \"BertPreTokenizer\" is not supported"));
  EXPECT_THAT(errorWith(R"({"post_processor": {"type": "RobertaProcessing"}})"),
              HasSubstr("post_processor.type: \"RobertaProcessing\" is not supported"));
  EXPECT_THAT(errorWith(R"({"decoder": {"type": "WordPiece"}})"), HasSubstr("decoder.type: \"WordPiece\""));
  EXPECT_THAT(errorWith(R"({"truncation": {"max_length": 5}})"), HasSubstr("truncation: is not supported"));
  EXPECT_THAT(
      errorWith(
          R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a)\\1"}, "behavior": "Isolated"}})"),
      HasSubstr("pre_tokenizer.pattern: the pattern \"(a)\\1\" has \"\\1\""));
}

TEST(TokenizerRefusal, WhatMakesNoSense) {
  EXPECT_THAT(errorWith(R"({"model": {"merges": ["a b", "b c"]}})"),
              HasSubstr("model.merges[1]: \"c\" is no token"));
  EXPECT_THAT(errorWith(R"({"model": {"merges": ["a b a"]}})"), HasSubstr("model.merges[0]: expected"));
  EXPECT_THAT(errorWith(R"({"model": {"vocab": {"c": 3}}})"), HasSubstr("model.vocab: id 3 has two tokens"));
  EXPECT_THAT(errorWith(R"({"model": {"vocab": {"c": 2000000000}}})"),
              HasSubstr("the id of \"c\" is 2000000000"));
  EXPECT_THAT(errorWith(R"({"model": {"vocab": {"c": -1}}})"), HasSubstr("the id of \"c\" is -1"));
  EXPECT_THAT(errorWith(R"({"model": {"unk_token": "<unk>"}})"),
              HasSubstr("model.unk_token: \"<unk>\" is no token"));
  EXPECT_THAT(errorWith(R"({"added_tokens": [{"id": 9, "content": "</s>", "special": true}]})"),
              HasSubstr("added_tokens[0].id: 9, but \"</s>\" has id 0 in model.vocab"));
  EXPECT_THAT(errorWith(R"({"added_tokens": [{"id": 7, "content": "x", "special": true}]})"),
              HasSubstr("added_tokens[0].id: 7, but \"x\" has id 5, the next free one"));
  EXPECT_THAT(errorWith(R"({"added_tokens": [{"id": 0, "content": "</s>"}, {"id": 0, "content": "</s>"}]})"),
              HasSubstr("is added twice"));
  EXPECT_THAT(errorWith(R"({"added_tokens": null})"), HasSubstr("Give tokenizer.end_of_document"));
  EXPECT_THAT(errorWith(R"({"pre_tokenizer": {"type": 3}})"),
              HasSubstr("pre_tokenizer.type: expected a string, not 3"));
  EXPECT_THAT(errorWith(R"({"version": "2.0"})"), HasSubstr("version: \"2.0\" is not supported"));
}

TEST(TokenizerRefusal, WhatIsNoTokenizer) {
  EXPECT_THAT(std::string(read("{\"model\": ").status().message()),
              HasSubstr("t.json: begins like JSON, but is none"));
  EXPECT_THAT(std::string(read("{\"a\": 1}").status().message()), HasSubstr("neither a tokenizer.json"));
  EXPECT_THAT(std::string(read("hello").status().message()), HasSubstr("t.json: not a tokenizer file"));
  EXPECT_FALSE(read(std::string(100000, '{')).ok());
  EXPECT_THAT(std::string(read(smallest, "<none>").status().message()),
              HasSubstr("no token is called \"<none>\""));
}

TEST(TokenizerText, MalformedBytesAreReplacedWhereCharactersCount) {
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = read(smallest);
  ASSERT_TRUE(tokenizer.ok());
  // As Python's errors="replace": one U+FFFD for the longest begin of a character.
  EXPECT_EQ(*(*tokenizer)
                 ->encode("a\xE4\xB8"
                          "b\xFF\xFE"),
            (std::vector<int32_t>{1, 4, 2, 4, 4}));
  EXPECT_EQ(*(*tokenizer)->encode("\xED\xA0\x80\xC0\xAF"), (std::vector<int32_t>(5, 4)));
}

TEST(TokenizerText, MalformedBytesRoundTripWhereBytesAreTokens) {
  nlohmann::json json = nlohmann::json::parse(smallest);
  nlohmann::json vocabulary = {{"</s>", 0}};
  for (int character = 0x21, next = 0; vocabulary.size() < 257; ++character) {
    const bool isVisible = character < 0x7F || (character > 0xA0 && character != 0xAD && character < 0x100);
    if (!isVisible && character < 0x100)
      continue;
    const char32_t code = character < 0x100 ? character : 0x100 + next++;
    const std::string spelled = code < 0x80 ? std::string(1, static_cast<char>(code))
                                            : std::string{static_cast<char>(0xC0 | code >> 6),
                                                          static_cast<char>(0x80 | (code & 0x3F))};
    vocabulary[spelled] = vocabulary.size();
  }
  json["model"]["vocab"] = vocabulary;
  json["model"]["merges"] = nlohmann::json::array();
  json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  json["decoder"] = {{"type", "ByteLevel"}};
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = read(json.dump());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += std::string{static_cast<char>(byte), static_cast<char>(255 - byte), ' '};
  absl::StatusOr<std::vector<int32_t>> ids = (*tokenizer)->encode(all);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(*(*tokenizer)->decode(*ids), all);
}

} // namespace
