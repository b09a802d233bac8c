//===- StagesTest.cpp - Blends one after the other ------------------------===//
#include "runtime/data/IndexedDatasetWriter.h"
#include "runtime/data/TrainingData.h"

#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

#include <map>

namespace weft {
namespace {

constexpr int64_t length = 4;

/// Dataset NAME of 400 tokens `first`, first + 1, ..., so of 99 samples.
DataInput countingDataset(const TestFolder &folder, const std::string &name, int32_t first, double weight) {
  auto writer = IndexedDatasetWriter::create(folder.path(name), TokenType::I32);
  for (int32_t token = first; token < first + 400; ++token)
    EXPECT_TRUE(writer->appendTokens(std::span(&token, 1)).ok());
  EXPECT_TRUE(writer->commit().ok());
  return {folder.path(name), weight};
}

absl::StatusOr<TrainingData> open(const std::vector<DataStage> &stages, double fraction = 0) {
  return TrainingData::open(
      stages,
      {.sequenceLength = length, .validationFraction = fraction, .seed = 1, .vocabularySize = 1 << 20});
}

int32_t firstToken(const TrainingData &data, int64_t k, Split split = Split::Training) {
  std::vector<int32_t> tokens(length), targets(length);
  SampleScratch scratch;
  EXPECT_TRUE(data.read(split, k, {.tokens = tokens, .targets = targets}, scratch).ok());
  return tokens[0];
}

TEST(Stages, TheNextBeginsAfterTheTokensOfTheOneBefore) {
  TestFolder folder;
  const DataInput a = countingDataset(folder, "a", 0, 1), b = countingDataset(folder, "b", 1000, 1);
  // 10 samples, and one that is begun: 41 tokens are 11 samples of 4.
  const TrainingData data = *open({{.inputs = {a}, .tokens = 41}, {.inputs = {b}}});
  for (int64_t k = 0; k < 40; ++k) {
    EXPECT_EQ(firstToken(data, k) >= 1000, k >= 11) << "sample " << k;
    EXPECT_EQ(data.origin(Split::Training, k).stage, k < 11 ? 0 : 1);
  }
}

TEST(Stages, AnInputGoesOnWhereItWas) {
  TestFolder folder;
  const DataInput a = countingDataset(folder, "a", 0, 3), b = countingDataset(folder, "b", 1000, 1);
  const DataInput less = {a.path, 1};
  const TrainingData data = *open({{.inputs = {a, b}, .tokens = 40 * length},
                                   {.inputs = {b, less}, .tokens = 30 * length},
                                   {.inputs = {a}}});
  const TrainingData alone = *open({{.inputs = {a}}});
  std::map<int32_t, int> times;
  int64_t fromA = 0;
  for (int64_t k = 0; fromA < 99; ++k) {
    const int32_t token = firstToken(data, k);
    if (token >= 1000)
      continue;
    EXPECT_EQ(token, firstToken(alone, fromA)) << "sample " << k;
    ++times[token];
    ++fromA;
  }
  EXPECT_EQ(times.size(), 99u); // a pass, over three stages
}

TEST(Stages, ValidationMixesAllInputs) {
  TestFolder folder;
  const DataInput a = countingDataset(folder, "a", 0, 1), b = countingDataset(folder, "b", 1000, 1);
  const TrainingData data = *open({{.inputs = {a}, .tokens = 40}, {.inputs = {a, b}}}, 0.25);
  int fromB = 0; // of the shares 1 and 1/2
  for (int64_t k = 0; k < 30; ++k)
    fromB += firstToken(data, k, Split::Validation) >= 1000;
  EXPECT_EQ(fromB, 10);
}

TEST(Stages, ChecksumsFollowThem) {
  TestFolder folder;
  const DataInput a = countingDataset(folder, "a", 0, 1), b = countingDataset(folder, "b", 1000, 1);
  const uint64_t one = open({{.inputs = {a}, .tokens = 40}, {.inputs = {b}}})->checksum();
  EXPECT_NE(one, open({{.inputs = {a}, .tokens = 80}, {.inputs = {b}}})->checksum());
  EXPECT_NE(one, open({{.inputs = {a, b}}})->checksum());
}

TEST(Stages, OnlyTheLastHasNoEnd) {
  TestFolder folder;
  const DataInput a = countingDataset(folder, "a", 0, 1);
  EXPECT_EQ(open({{.inputs = {a}}, {.inputs = {a}}}).status().message(),
            "data.stages[0].tokens: 0 is not at least 1: only the last stage goes on to the end of the run");
  EXPECT_EQ(open({{.inputs = {a}, .tokens = 40}}).status().message(),
            "data.stages[0].tokens: 40, but the last stage goes on to the end of the run. Leave it out.");
}

} // namespace
} // namespace weft
