//===- TokenizerJsonTest.cpp - Every component against the reference ------===//
//
// components.json holds one small tokenizer for each component, and what the reference library made of some
// texts (generate.py wrote it). Ids must be the same, decoding too, whole or token by token.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/StreamingDecoder.h"
#include "runtime/tokenizer/TokenizerFile.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

using namespace weft;

namespace {

const nlohmann::json &components() {
  static const nlohmann::json all = [] {
    std::ifstream file(WEFT_TOKENIZER_COMPONENTS);
    return nlohmann::json::parse(file);
  }();
  return all;
}

struct Component {
  std::string name;
  size_t index;
};

std::vector<Component> allComponents() {
  std::vector<Component> all;
  for (const nlohmann::json &one : components()["cases"])
    all.push_back({one["name"], all.size()});
  return all;
}

class TokenizerJson : public testing::TestWithParam<Component> {
protected:
  void SetUp() override {
    answers = components()["cases"][GetParam().index];
    texts = components()["texts"];
    absl::StatusOr<std::unique_ptr<Tokenizer>> read =
        readTokenizerFile({"tokenizer.json", answers["tokenizer"].dump(), "", {}, "<end>"});
    ASSERT_TRUE(read.ok()) << read.status();
    tokenizer = *std::move(read);
  }

  void expectIds(const char *mode, const EncodeOptions &options) {
    for (size_t i = 0; i < texts.size(); ++i) {
      absl::StatusOr<std::vector<int32_t>> ids = tokenizer->encode(texts[i], options);
      ASSERT_TRUE(ids.ok()) << ids.status();
      EXPECT_EQ(*ids, answers[mode][i].get<std::vector<int32_t>>()) << "text: \"" << texts[i] << "\"";
    }
  }

  nlohmann::json answers;
  std::vector<std::string> texts;
  std::unique_ptr<Tokenizer> tokenizer;
};

TEST_P(TokenizerJson, IdsAreThoseOfTheReference) { expectIds("plain", {}); }

TEST_P(TokenizerJson, SpecialTokensInATextAreReadOnRequest) {
  expectIds("special", {.readsSpecialTokens = true});
}

TEST_P(TokenizerJson, SpecialTokensAroundATextAreAddedOnRequest) {
  expectIds("added", {.readsSpecialTokens = true, .addsSpecialTokens = true});
}

TEST_P(TokenizerJson, DecodesLikeTheReferenceTokenByTokenToo) {
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto ids = answers["plain"][i].get<std::vector<int32_t>>();
    absl::StatusOr<std::string> whole = tokenizer->decode(ids);
    ASSERT_TRUE(whole.ok()) << whole.status();
    EXPECT_EQ(*whole, answers["decoded"][i].get<std::string>());
    StreamingDecoder decoder(*tokenizer);
    std::string streamed;
    for (int32_t id : ids)
      streamed += *decoder.feed(id);
    EXPECT_EQ(streamed + decoder.finish(), *whole);
  }
}

TEST_P(TokenizerJson, TravelsInABlob) {
  absl::StatusOr<std::unique_ptr<Tokenizer>> loaded = loadTokenizer(tokenizer->serialize());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  for (const std::string &text : texts)
    EXPECT_EQ(*(*loaded)->encode(text), *tokenizer->encode(text));
}

INSTANTIATE_TEST_SUITE_P(Components, TokenizerJson, testing::ValuesIn(allComponents()),
                         [](const testing::TestParamInfo<Component> &info) { return info.param.name; });

} // namespace
