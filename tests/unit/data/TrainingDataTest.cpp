//===- TrainingDataTest.cpp - The k-th sample of a run --------------------===//
#include "runtime/data/TrainingData.h"
#include "runtime/data/IndexedDatasetWriter.h"

#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

#include <set>

namespace weft {
namespace {

/// Dataset NAME of `count` tokens first, first + 1, ..., in documents of 10.
DataInput countingDataset(const TestFolder &folder, const std::string &name, int32_t first, int32_t count,
                          double weight = 1) {
  auto writer = IndexedDatasetWriter::create(folder.path(name), TokenType::I32);
  for (int32_t i = 0; i < count; ++i) {
    int32_t token = first + i;
    EXPECT_TRUE(writer->appendTokens(std::span(&token, 1)).ok());
    if (i % 10 == 9)
      writer->endDocument();
  }
  EXPECT_TRUE(writer->commit().ok());
  return {folder.path(name), weight};
}

DataOptions options(int64_t length, double fraction = 0, uint64_t seed = 1) {
  return {.sequenceLength = length, .validationFraction = fraction, .seed = seed, .vocabularySize = 1 << 20};
}

TrainingData open(std::vector<DataInput> inputs, const DataOptions &options) {
  std::vector<DataStage> stages = {{.inputs = std::move(inputs)}};
  auto data = TrainingData::open(stages, options);
  EXPECT_TRUE(data.ok()) << data.status();
  return std::move(*data);
}

/// First token of sample k; checks that tokens and targets continue from it.
int32_t firstToken(const TrainingData &data, Split split, int64_t k) {
  std::vector<int32_t> tokens(data.sequenceLength());
  std::vector<int32_t> targets(data.sequenceLength());
  SampleScratch scratch;
  EXPECT_TRUE(data.read(split, k, {.tokens = tokens, .targets = targets}, scratch).ok());
  for (size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i], tokens[0] + static_cast<int32_t>(i));
    EXPECT_EQ(targets[i], tokens[i] + 1);
  }
  return tokens[0];
}

TEST(TrainingData, EachPassTakesEverySampleOnceInAnOrderOfItsOwn) {
  TestFolder folder;
  TrainingData data = open({countingDataset(folder, "a", 0, 101)}, options(10));
  ASSERT_EQ(data.samples(Split::Training), 10);
  std::vector<std::vector<int32_t>> passes;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int32_t> pass;
    for (int64_t i = 0; i < 10; ++i)
      pass.push_back(firstToken(data, Split::Training, epoch * 10 + i));
    EXPECT_EQ(std::set<int32_t>(pass.begin(), pass.end()).size(), 10u);
    passes.push_back(pass);
  }
  EXPECT_NE(passes[0], passes[1]);
  EXPECT_NE(passes[1], passes[2]);
}

TEST(TrainingData, TheSeedChoosesTheTrainingOrderAndNotThatOfValidation) {
  TestFolder folder;
  DataInput input = countingDataset(folder, "a", 0, 2001);
  TrainingData one = open({input}, options(10, 0.2, 1));
  TrainingData two = open({input}, options(10, 0.2, 2));
  int equal = 0;
  for (int64_t k = 0; k < 40; ++k) {
    equal += firstToken(one, Split::Training, k) == firstToken(two, Split::Training, k);
    EXPECT_EQ(firstToken(one, Split::Validation, k), firstToken(two, Split::Validation, k));
  }
  EXPECT_LT(equal, 10);
}

TEST(TrainingData, ValidationRepeatsTheSameSamples) {
  TestFolder folder;
  TrainingData data = open({countingDataset(folder, "a", 0, 2001)}, options(10, 0.2));
  int64_t count = data.samples(Split::Validation);
  for (int64_t k = 0; k < count; ++k)
    EXPECT_EQ(firstToken(data, Split::Validation, k), firstToken(data, Split::Validation, k + count));
}

TEST(TrainingData, InputsAreBlendedByWeight) {
  TestFolder folder;
  TrainingData data = open(
      {countingDataset(folder, "a", 0, 500, 3), countingDataset(folder, "b", 10000, 500, 1)}, options(10));
  int fromB = 0;
  for (int64_t k = 0; k < 400; ++k)
    fromB += firstToken(data, Split::Training, k) >= 10000;
  EXPECT_EQ(fromB, 100);
}

TEST(TrainingData, SamplesAreDescribed) {
  TestFolder folder;
  TrainingData data = open({countingDataset(folder, "a", 0, 101)}, options(10));
  int32_t token = firstToken(data, Split::Training, 13);
  SampleOrigin origin = data.origin(Split::Training, 13);
  EXPECT_EQ(origin.pieces[0].begin, token);
  EXPECT_EQ(origin.pieces[0].document, token / 10);
  EXPECT_EQ(origin.epoch, 1);
  EXPECT_EQ(folder.relative(data.describe(Split::Training, 13)),
            "a: document " + std::to_string(token / 10) + ", token " + std::to_string(token) + ", epoch 1");
}

TEST(TrainingData, ChecksumFollowsContentsWeightsAndOrder) {
  TestFolder folder;
  DataInput a = countingDataset(folder, "a", 0, 100);
  DataInput b = countingDataset(folder, "b", 5, 100);
  DataInput heavier = {b.path, 2};
  std::set<uint64_t> sums;
  for (const auto &inputs : std::vector<std::vector<DataInput>>{{a}, {b}, {a, b}, {b, a}, {a, heavier}})
    sums.insert(open(inputs, options(10)).checksum());
  EXPECT_EQ(sums.size(), 5u);
}

TEST(TrainingData, ErrorsSayWhatWouldHelp) {
  TestFolder folder;
  DataInput input = countingDataset(folder, "a", 0, 100);
  auto error = [&](std::vector<DataInput> inputs, const DataOptions &options) {
    std::vector<DataStage> stages = {{.inputs = std::move(inputs)}};
    return folder.relative(TrainingData::open(stages, options).status().message());
  };
  EXPECT_EQ(error({input}, options(0)), "data.sequence_length: 0 is not at least 1");
  EXPECT_EQ(error({input}, options(10, 1)), "data.validation_fraction: 1 is not in [0, 1)");
  EXPECT_EQ(error({input}, options(100)), "a.idx: 100 tokens are fewer than one sample of 101 tokens "
                                          "(data.sequence_length + 1). Use more text or a shorter sequence.");
  EXPECT_EQ(error({input}, options(80, 0.5)),
            "a.idx: 100 tokens, of which 50 are held out, are fewer than one sample of 81 tokens "
            "(data.sequence_length + 1). Use more text or a shorter sequence.");
  EXPECT_EQ(error({input}, options(20, 0.1)), "a.idx: data.validation_fraction 0.1 of 100 tokens holds out "
                                              "10, fewer than one sample of 21 tokens. Use "
                                              "at least 0.22, or 0 to validate with nothing.");
  EXPECT_EQ(error({{folder.path("b"), 1}}, options(10)), "b.idx: no such file");
  EXPECT_EQ(error({}, options(10)), "data.train: no input is given");
}

} // namespace
} // namespace weft
