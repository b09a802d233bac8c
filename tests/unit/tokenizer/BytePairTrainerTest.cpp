//===- BytePairTrainerTest.cpp - Vocabularies learned from texts ----------===//
//
// That the merges are those of the reference on real text is shown by tests/system/test_train_tokenizer.py.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/BytePairTrainer.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TrainedVocabulary train(const std::vector<std::string> &texts, const BytePairTrainerOptions &options) {
  const std::string pattern(wellKnownPattern("gpt2", RegexDialect::Oniguruma));
  const std::unique_ptr<Splitter> splitter =
      createWellKnownSplitter(std::span(&pattern, 1), RegexDialect::Oniguruma);
  PieceCounts counts(*splitter);
  for (const std::string &text : texts)
    EXPECT_TRUE(counts.add(text).ok());
  return trainBytePairs(counts, options);
}

std::vector<std::string> merged(const TrainedVocabulary &vocabulary) {
  return {vocabulary.tokens.begin() + 256 + static_cast<std::ptrdiff_t>(vocabulary.specialTokens),
          vocabulary.tokens.end()};
}

TEST(BytePairTrainer, SpecialTokensThenBytesInTheOrderOfTheirCharacters) {
  const TrainedVocabulary vocabulary =
      train({"x"}, {.specialTokens = {"<end>", "<pad>", "<end>"}, .onProgress = {}});
  EXPECT_EQ(vocabulary.specialTokens, 2u);
  EXPECT_EQ(vocabulary.tokens.size(), 258u);
  EXPECT_EQ(vocabulary.tokens[0], "<end>");
  EXPECT_EQ(vocabulary.tokens[2], "!");
  EXPECT_EQ(vocabulary.tokens[257], "\u0143"); // the soft hyphen
}

TEST(BytePairTrainer, TheMostFrequentPairComesFirstAndOfEqualOnesTheLowerIds) {
  // "ab" 3 times, "cd" twice, "xy" twice: c comes before x.
  const TrainedVocabulary vocabulary =
      train({"ab ab ab", "xy xy cd cd"}, {.specialTokens = {}, .onProgress = {}});
  EXPECT_EQ(merged(vocabulary)[0], "ab");
  const std::vector<std::string> tokens = merged(vocabulary);
  const auto place = [&](const char *token) {
    return std::find(tokens.begin(), tokens.end(), token) - tokens.begin();
  };
  EXPECT_LT(place("cd"), place("xy"));
}

TEST(BytePairTrainer, StopsAtTheSizeAndAtTheLeastCount) {
  EXPECT_EQ(merged(train({"abab abab"}, {.vocabularySize = 257, .specialTokens = {}, .onProgress = {}})),
            (std::vector<std::string>{"ab"}));
  EXPECT_EQ(merged(train({"ab ab cd"}, {.leastCount = 2, .specialTokens = {}, .onProgress = {}})),
            (std::vector<std::string>{"ab"}));
}

TEST(BytePairTrainer, TheOrderOfTheTextsDoesNotMatter) {
  const std::vector<std::string> texts = {"the cat sat on the mat", "a cat is a cat", "that hat"};
  const TrainedVocabulary one = train(texts, {.specialTokens = {}, .onProgress = {}});
  const TrainedVocabulary other =
      train({texts[2], texts[0], texts[1]}, {.specialTokens = {}, .onProgress = {}});
  EXPECT_EQ(one.tokens, other.tokens);
  EXPECT_EQ(one.merges, other.merges);
}

} // namespace
} // namespace weft
