//===- TiktokenFileTest.cpp - Tokenizers of tiktoken files ----------------===//
#include "runtime/config/Config.h"
#include "runtime/tokenizer/TokenizerFile.h"

#include "absl/strings/escaping.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

using Ids = std::vector<int32_t>;

std::string lineOf(const std::string &token, int rank) {
  return absl::Base64Escape(token) + " " + std::to_string(rank) + "\n";
}

/// All bytes, "he" as 256, " the" as 300.
TokenizerFile smallFile() {
  std::string contents;
  for (int byte = 0; byte < 256; ++byte)
    contents += lineOf(std::string(1, static_cast<char>(byte)), byte);
  contents += lineOf("he", 256) + lineOf("th", 257) + lineOf(" the", 300);
  return {.name = "small.tiktoken",
          .contents = contents,
          .pattern = "cl100k",
          .specialTokens = {{"<|endoftext|>", 299}, {"<|end", 310}},
          .endOfDocument = ""};
}

std::string errorOf(TokenizerFile file) {
  return std::string(readTokenizerFile(std::move(file)).status().message());
}

TEST(TiktokenFile, EncodesByRanksAndDecodesAnyBytes) {
  auto tokenizer = readTokenizerFile(smallFile());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->vocabularySize(), 311);
  EXPECT_EQ((*tokenizer)->endOfDocument(), 299);
  EXPECT_EQ(*(*tokenizer)->encode("she the"), (Ids{'s', 256, 300}));
  const std::string text = "any \xFF\xE4 bytes\n";
  EXPECT_EQ(*(*tokenizer)->decode(*(*tokenizer)->encode(text)), text);
  EXPECT_EQ((*tokenizer)->bytesOf(280)->size(), 0u); // no token has this id
  EXPECT_FALSE((*tokenizer)->bytesOf(311).ok());
}

TEST(TiktokenFile, SpecialTokensAreTextUnlessTheyAreAskedForAndTheLongestCounts) {
  auto tokenizer = readTokenizerFile(smallFile());
  EXPECT_EQ((*tokenizer)->encode("a<|endoftext|>")->size(), 14u);
  EXPECT_EQ(*(*tokenizer)->encode("a<|endoftext|>b<|end", {.readsSpecialTokens = true}),
            (Ids{'a', 299, 'b', 310}));
  EXPECT_EQ(*(*tokenizer)->decode(Ids{310, 299}), "<|end"); // the end of a document has no text
}

TEST(TiktokenFile, TheBlobGivesAnEqualTokenizer) {
  auto tokenizer = readTokenizerFile(smallFile());
  auto loaded = loadTokenizer((*tokenizer)->serialize());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->checksum(), (*tokenizer)->checksum());
  EXPECT_EQ(*(*loaded)->encode("the the"), *(*tokenizer)->encode("the the"));
  TokenizerFile other = smallFile();
  other.pattern = "gpt2";
  EXPECT_NE((*readTokenizerFile(std::move(other)))->checksum(), (*tokenizer)->checksum());
}

TEST(TiktokenFile, WhatTheFileCannotSayMustBeGiven) {
  TokenizerFile file = smallFile();
  file.pattern = "";
  EXPECT_EQ(
      errorOf(file),
      "small.tiktoken: a tiktoken file does not say how text is split. Give tokenizer.pattern: the regular "
      "expression that its package has, or the name of one of gpt2, llama3, cl100k, qwen2, o200k, tekken.");
  file = smallFile();
  file.specialTokens = {};
  EXPECT_EQ(errorOf(file),
            "small.tiktoken: no token ends a document: the file has no special tokens. Give one that "
            "does in tokenizer.special_tokens, such as [{token: \"<|endoftext|>\", id: N}].");
  file.specialTokens = {{"<a>", 299}, {"<b>", 310}};
  EXPECT_EQ(errorOf(file),
            "small.tiktoken: which token ends a document? Give tokenizer.end_of_document: one of <a>, <b>.");
  file.endOfDocument = "<c>";
  EXPECT_EQ(errorOf(file),
            "small.tiktoken: tokenizer.end_of_document: no special token is called \"<c>\". Known: "
            "<a>, <b>.");
}

TEST(TiktokenFile, BadLinesAndIdsAreNamed) {
  TokenizerFile file = smallFile();
  file.contents += "aGU= x\n";
  EXPECT_EQ(errorOf(file),
            "small.tiktoken:260: expected the base64 of a token, a space and its rank, got \"aGU= x\"");
  file = smallFile();
  file.contents += lineOf("zz", 256);
  EXPECT_EQ(errorOf(file), "small.tiktoken:260: rank 256 comes twice");
  file = smallFile();
  file.contents += lineOf("zz", 2000000000);
  EXPECT_EQ(errorOf(file).substr(0, 36), "small.tiktoken:260: rank 2000000000 ");
  file = smallFile();
  file.specialTokens[0].id = 300;
  EXPECT_EQ(errorOf(file),
            "small.tiktoken: special token \"<|endoftext|>\": id 300 is that of a token of the file");
}

TEST(TiktokenFile, AModelWithFewerRowsThanIdsIsRefused) {
  Config config;
  config.model.vocabSize = 310;
  auto tokenizer = readTokenizerFile(smallFile());
  EXPECT_EQ(checkVocabulary(**tokenizer, config).message(),
            "model.vocab_size: 310 is less than the 311 ids of the tokenizer. Works: 311 or more.");
  config.model.vocabSize = 311;
  EXPECT_TRUE(checkVocabulary(**tokenizer, config).ok());
}

} // namespace
} // namespace weft
