//===- PackingTest.cpp - Documents to samples -----------------------------===//
#include "runtime/data/IndexedDatasetWriter.h"
#include "runtime/data/TrainingData.h"

#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>

namespace weft {
namespace {

/// Dataset NAME of the tokens 1, 2, ... in documents of these lengths.
DataInput documentsOf(const TestFolder &folder, const std::string &name,
                      const std::vector<int64_t> &lengths) {
  auto writer = IndexedDatasetWriter::create(folder.path(name), TokenType::I32);
  int32_t next = 1;
  for (int64_t length : lengths) {
    std::vector<int32_t> tokens(static_cast<size_t>(length));
    std::iota(tokens.begin(), tokens.end(), next);
    next += static_cast<int32_t>(length);
    EXPECT_TRUE(writer->appendTokens(tokens).ok());
    writer->endDocument();
  }
  EXPECT_TRUE(writer->commit().ok());
  return {folder.path(name), 1};
}

TrainingData open(const DataInput &input, int64_t length, SamplePacking packing, double fraction = 0) {
  std::vector<DataStage> stages = {{.inputs = {input}}};
  auto data = TrainingData::open(stages, {.sequenceLength = length,
                                          .validationFraction = fraction,
                                          .seed = 3,
                                          .vocabularySize = 1 << 30,
                                          .packing = packing});
  EXPECT_TRUE(data.ok()) << data.status();
  return *std::move(data);
}

struct Rows {
  explicit Rows(int64_t length) : tokens(length), targets(length), segments(length), positions(length) {}
  Sample view() { return {tokens, targets, segments, positions}; }
  std::vector<int32_t> tokens, targets, segments, positions;
  bool operator==(const Rows &) const = default;
};

/// All samples of a pass, by their first token.
std::map<int32_t, Rows> readPass(const TrainingData &data, Split split = Split::Training) {
  std::map<int32_t, Rows> pass;
  SampleScratch scratch;
  for (int64_t k = 0; k < data.samples(split); ++k) {
    Rows rows(data.sequenceLength());
    EXPECT_TRUE(data.read(split, k, rows.view(), scratch).ok());
    EXPECT_TRUE(pass.emplace(rows.tokens[0], rows).second) << "a sample came twice";
  }
  return pass;
}

using Row = std::vector<int32_t>;
constexpr int32_t none = kNoTarget;

TEST(Packing, SplitKnowsNoDocuments) {
  TestFolder folder;
  const TrainingData data = open(documentsOf(folder, "a", {3, 4, 4}), 5, SamplePacking::Split);
  const Rows first = readPass(data).at(1);
  EXPECT_EQ(first.tokens, (Row{1, 2, 3, 4, 5}));
  EXPECT_EQ(first.targets, (Row{2, 3, 4, 5, 6}));
  EXPECT_EQ(first.segments, (Row{1, 1, 1, 1, 1}));
  EXPECT_EQ(first.positions, (Row{0, 1, 2, 3, 4}));
}

TEST(Packing, DocumentsCutTheStreamWhereSplitDoesAndKeepDocumentsApart) {
  TestFolder folder;
  const std::map<int32_t, Rows> pass =
      readPass(open(documentsOf(folder, "a", {3, 0, 4, 4}), 5, SamplePacking::Documents));
  ASSERT_EQ(pass.size(), 2u);
  EXPECT_EQ(pass.at(1).tokens, (Row{1, 2, 3, 4, 5}));
  EXPECT_EQ(pass.at(1).targets, (Row{2, 3, none, 5, 6})); // the second document goes on in the next sample
  EXPECT_EQ(pass.at(1).segments, (Row{1, 1, 1, 2, 2}));
  EXPECT_EQ(pass.at(1).positions, (Row{0, 1, 2, 0, 1}));
  EXPECT_EQ(pass.at(6).tokens, (Row{6, 7, 8, 9, 10}));
  EXPECT_EQ(pass.at(6).targets, (Row{7, none, 9, 10, 11})); // where its positions begin at 0 again
  EXPECT_EQ(pass.at(6).segments, (Row{1, 1, 2, 2, 2}));
  EXPECT_EQ(pass.at(6).positions, (Row{0, 1, 0, 1, 2}));
}

TEST(Packing, BestFitFillsEachSampleWithTheDocumentThatLeavesLeast) {
  TestFolder folder;
  // By descending length: 7 opens a sample, 6 another; 4 fits the one of 6 exactly, 3 that of 7; 2 opens one.
  const std::map<int32_t, Rows> pass =
      readPass(open(documentsOf(folder, "a", {3, 6, 7, 4, 2}), 10, SamplePacking::BestFit));
  ASSERT_EQ(pass.size(), 3u);
  EXPECT_EQ(pass.at(1).tokens, (Row{1, 2, 3, 10, 11, 12, 13, 14, 15, 16})); // in the order of the corpus
  EXPECT_EQ(pass.at(1).targets, (Row{2, 3, none, 11, 12, 13, 14, 15, 16, none}));
  EXPECT_EQ(pass.at(1).segments, (Row{1, 1, 1, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(pass.at(1).positions, (Row{0, 1, 2, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(pass.at(4).segments, (Row{1, 1, 1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(pass.at(21).tokens, (Row{21, 22, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(pass.at(21).segments, (Row{1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Packing, PadGivesEachDocumentASample) {
  TestFolder folder;
  const std::map<int32_t, Rows> pass =
      readPass(open(documentsOf(folder, "a", {2, 9, 4}), 4, SamplePacking::Pad));
  ASSERT_EQ(pass.size(), 5u);
  EXPECT_EQ(pass.at(1).tokens, (Row{1, 2, 0, 0}));
  EXPECT_EQ(pass.at(1).targets, (Row{2, none, none, none}));
  EXPECT_EQ(pass.at(1).segments, (Row{1, 1, 0, 0}));
  EXPECT_EQ(pass.at(3).targets, (Row{4, 5, 6, 7})); // of the long one, which goes on
  EXPECT_EQ(pass.at(7).targets, (Row{8, 9, 10, 11}));
  EXPECT_EQ(pass.at(11).targets, (Row{none, none, none, none}));
  EXPECT_EQ(pass.at(12).targets, (Row{13, 14, 15, none}));
}

/// Holds a pass against what documents say: each token of the corpus is in it at most once, its target is the
/// token behind it in the same document or none, its position counts from where its segment begins.
void expectWhole(const TrainingData &data, Split split, const std::vector<int64_t> &lengths,
                 std::set<int32_t> &seen, int64_t &withTarget) {
  std::set<int32_t> lasts;
  int32_t end = 0;
  for (int64_t length : lengths)
    lasts.insert(end += static_cast<int32_t>(length));
  for (const auto &[first, rows] : readPass(data, split)) {
    for (size_t i = 0; i < rows.tokens.size(); ++i) {
      const bool begins = i == 0 || rows.segments[i] != rows.segments[i - 1];
      EXPECT_EQ(rows.positions[i], begins ? 0 : rows.positions[i - 1] + 1);
      if (rows.segments[i] == 0) {
        EXPECT_EQ(rows.tokens[i], 0);
        EXPECT_EQ(rows.targets[i], none);
        continue;
      }
      EXPECT_EQ(rows.segments[i], (i == 0 ? 0 : rows.segments[i - 1]) + (begins ? 1 : 0));
      EXPECT_TRUE(seen.insert(rows.tokens[i]).second) << "token " << rows.tokens[i];
      EXPECT_EQ(begins || rows.tokens[i] == rows.tokens[i - 1] + 1, true);
      const bool isLast = lasts.contains(rows.tokens[i]);
      if (rows.targets[i] != none) {
        EXPECT_EQ(rows.targets[i], rows.tokens[i] + 1);
        EXPECT_FALSE(isLast);
        ++withTarget;
      }
    }
  }
}

TEST(Packing, EveryTokenOfTheCorpusIsInOneSample) {
  TestFolder folder;
  std::mt19937_64 random(7);
  std::vector<int64_t> lengths;
  for (int i = 0; i < 3'000; ++i)
    lengths.push_back(static_cast<int64_t>(random() % (i % 50 == 0 ? 300 : 60)));
  const int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  const auto written =
      static_cast<int64_t>(std::count_if(lengths.begin(), lengths.end(), [](int64_t n) { return n > 0; }));
  const DataInput input = documentsOf(folder, "a", lengths);
  for (SamplePacking packing : {SamplePacking::BestFit, SamplePacking::Pad}) {
    const TrainingData data = open(input, 64, packing);
    std::set<int32_t> seen;
    int64_t withTarget = 0;
    expectWhole(data, Split::Training, lengths, seen, withTarget);
    EXPECT_EQ(static_cast<int64_t>(seen.size()), tokens);
    EXPECT_EQ(withTarget, tokens - written); // every token but the first of a document is a target once
  }
  const TrainingData data = open(input, 64, SamplePacking::Documents);
  std::set<int32_t> seen;
  int64_t withTarget = 0;
  expectWhole(data, Split::Training, lengths, seen, withTarget);
  EXPECT_GE(static_cast<int64_t>(seen.size()), tokens - 64);
}

TEST(Packing, NoTokenIsTrainedOnAndValidatedWith) {
  TestFolder folder;
  std::vector<int64_t> lengths(500);
  for (size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = 1 + static_cast<int64_t>(i * i % 90);
  const int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  for (SamplePacking packing : {SamplePacking::Documents, SamplePacking::BestFit, SamplePacking::Pad}) {
    const TrainingData data = open(documentsOf(folder, "a", lengths), 32, packing, 0.1);
    std::set<int32_t> seen;
    int64_t withTarget = 0;
    expectWhole(data, Split::Training, lengths, seen, withTarget);
    expectWhole(data, Split::Validation, lengths, seen, withTarget);
    if (packing != SamplePacking::Documents) {
      EXPECT_EQ(static_cast<int64_t>(seen.size()), tokens);
    }
  }
}

TEST(Packing, BestFitLosesLittleHoweverTheCorpusIsSorted) {
  TestFolder folder;
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> draw(4.5, 1.2);
  std::vector<int64_t> lengths(20'000);
  for (int64_t &length : lengths)
    length = std::max<int64_t>(2, std::min<int64_t>(5'000, std::llround(draw(random))));
  const int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  for (bool isSorted : {false, true}) {
    if (isSorted)
      std::sort(lengths.begin(), lengths.end());
    const TrainingData data = open(documentsOf(folder, "a", lengths), 1024, SamplePacking::BestFit);
    const int64_t places = data.samples(Split::Training) * 1024;
    EXPECT_LT(static_cast<double>(places - tokens) / static_cast<double>(places), 0.01);
  }
}

TEST(Packing, ASampleIsTheSameWhateverWasReadBefore) {
  TestFolder folder;
  std::vector<int64_t> lengths(2'000);
  for (size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = 1 + static_cast<int64_t>(i * 7919 % 150);
  for (SamplePacking packing : {SamplePacking::Documents, SamplePacking::BestFit, SamplePacking::Pad}) {
    const TrainingData data = open(documentsOf(folder, "a", lengths), 128, packing);
    SampleScratch warm;
    for (int64_t k = 0; k < 2 * data.samples(Split::Training); k += 7) {
      Rows walked(128), alone(128);
      SampleScratch cold;
      ASSERT_TRUE(data.read(Split::Training, k, walked.view(), warm).ok());
      ASSERT_TRUE(data.read(Split::Training, k, alone.view(), cold).ok());
      ASSERT_EQ(walked, alone) << "sample " << k;
    }
  }
}

TEST(Packing, SamplesOfSeveralDocumentsAreDescribed) {
  TestFolder folder;
  const TrainingData data = open(documentsOf(folder, "a", {3, 4, 4}), 5, SamplePacking::Documents);
  std::set<std::string> texts;
  for (int64_t k : {0, 1})
    texts.insert(folder.relative(data.describe(Split::Training, k)));
  EXPECT_EQ(texts, (std::set<std::string>{"a: documents 0 and 1 more, token 0, epoch 0",
                                          "a: documents 1 and 1 more, token 5, epoch 0"}));
}

} // namespace
} // namespace weft
