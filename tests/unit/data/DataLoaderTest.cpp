//===- DataLoaderTest.cpp - Microbatches, ahead of time -------------------===//
#include "runtime/data/DataLoader.h"
#include "runtime/data/IndexedDatasetWriter.h"

#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weft {
namespace {

constexpr int64_t length = 8;

std::shared_ptr<const TrainingData> countingData(const TestFolder &folder, double fraction = 0,
                                                 int32_t vocabulary = 1 << 20) {
  std::vector<int32_t> tokens(4001);
  std::iota(tokens.begin(), tokens.end(), 0);
  auto writer = IndexedDatasetWriter::create(folder.path("a"), TokenType::I32);
  EXPECT_TRUE(writer->appendTokens(tokens).ok());
  EXPECT_TRUE(writer->commit().ok());
  std::vector<DataStage> stages = {{.inputs = {{folder.path("a"), 1}}}};
  DataOptions options = {length, fraction, 5, vocabulary};
  return std::make_shared<const TrainingData>(*TrainingData::open(stages, options));
}

struct Buffers {
  explicit Buffers(int64_t samples)
      : tokens(samples * length), targets(samples * length), sampleIds(samples) {}
  Microbatch view() { return {.tokens = tokens, .targets = targets, .sampleIds = sampleIds}; }
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;
  std::vector<int64_t> sampleIds;
};

/// All samples of a step, in the order of ranks and microbatches.
Buffers readStep(std::shared_ptr<const TrainingData> data, int64_t step, int64_t globalBatch, int64_t ranks,
                 int64_t microBatch) {
  Buffers all(0);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    auto loader = DataLoader::create(data, {.globalBatch = globalBatch,
                                            .microBatch = microBatch,
                                            .dataRanks = ranks,
                                            .rank = rank,
                                            .firstStep = step});
    EXPECT_TRUE(loader.ok()) << loader.status();
    Buffers part(microBatch);
    for (int64_t m = 0; m < (*loader)->microbatchesPerStep(); ++m) {
      EXPECT_TRUE((*loader)->read(step, m, part.view()).ok());
      all.tokens.insert(all.tokens.end(), part.tokens.begin(), part.tokens.end());
      all.targets.insert(all.targets.end(), part.targets.begin(), part.targets.end());
      all.sampleIds.insert(all.sampleIds.end(), part.sampleIds.begin(), part.sampleIds.end());
    }
  }
  return all;
}

TEST(DataLoader, AStepIsTheSameOnEveryMeshAndMicroBatch) {
  TestFolder folder;
  auto data = countingData(folder);
  for (int64_t step : {0, 1, 17, 1000}) {
    Buffers reference = readStep(data, step, 24, 1, 24);
    for (int64_t i = 0; i < 24; ++i)
      EXPECT_EQ(reference.sampleIds[i], step * 24 + i);
    for (auto [ranks, microBatch] : {std::pair<int64_t, int64_t>{1, 1}, {2, 3}, {4, 6}, {8, 1}, {3, 4}}) {
      Buffers other = readStep(data, step, 24, ranks, microBatch);
      EXPECT_EQ(other.tokens, reference.tokens);
      EXPECT_EQ(other.targets, reference.targets);
      EXPECT_EQ(other.sampleIds, reference.sampleIds);
    }
  }
}

TEST(DataLoader, StepsFollowEachOtherAsIfReadAlone) {
  TestFolder folder;
  auto data = countingData(folder);
  auto loader = DataLoader::create(data, {.globalBatch = 6, .microBatch = 2, .prefetch = 3});
  for (int64_t step = 0; step < 200; ++step) {
    Buffers expected = readStep(data, step, 6, 1, 6);
    Buffers part(2);
    for (int64_t m = 0; m < 3; ++m) {
      ASSERT_TRUE((*loader)->read(step, m, part.view()).ok());
      ASSERT_TRUE(
          std::equal(part.tokens.begin(), part.tokens.end(), expected.tokens.begin() + m * 2 * length));
      ASSERT_EQ(part.sampleIds[0], step * 6 + m * 2);
    }
  }
  EXPECT_GE((*loader)->secondsWaited(), 0);
}

TEST(DataLoader, AnyMicrobatchMayBeAskedFor) {
  TestFolder folder;
  auto data = countingData(folder);
  auto loader = DataLoader::create(data, {.globalBatch = 4, .microBatch = 2});
  Buffers part(2);
  for (auto [step, m] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {0, 0}, {9, 1}, {3, 0}, {3, 1}, {0, 1}, {0, 1}}) {
    ASSERT_TRUE((*loader)->read(step, m, part.view()).ok());
    EXPECT_EQ(part.sampleIds[0], step * 4 + m * 2);
  }
}

TEST(DataLoader, ReadsValidation) {
  TestFolder folder;
  auto data = countingData(folder, 0.1);
  auto loader = DataLoader::create(data, {.split = Split::Validation, .globalBatch = 4, .microBatch = 4});
  Buffers part(4);
  ASSERT_TRUE((*loader)->read(0, 0, part.view()).ok());
  std::vector<int32_t> tokens(length), targets(length);
  SampleScratch scratch;
  ASSERT_TRUE(data->read(Split::Validation, 0, {.tokens = tokens, .targets = targets}, scratch).ok());
  EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), part.tokens.begin()));
}

TEST(DataLoader, ErrorsOfTheThreadReachTheCaller) {
  TestFolder folder;
  auto loader = DataLoader::create(countingData(folder, 0, 10), {.globalBatch = 64, .microBatch = 64});
  Buffers part(64);
  EXPECT_EQ((*loader)->read(0, 0, part.view()).code(), absl::StatusCode::kOutOfRange);
}

TEST(DataLoader, BatchesThatDoNotDivideAreRefusedWithWhatWould) {
  TestFolder folder;
  auto data = countingData(folder);
  auto error = [&](const DataLoaderOptions &options) {
    return std::string(DataLoader::create(data, options).status().message());
  };
  EXPECT_EQ(
      error({.globalBatch = 30, .microBatch = 4, .dataRanks = 2}),
      "train.global_batch: 30 is not a multiple of 2 data ranks x train.micro_batch 4. Works: 24 or 32.");
  EXPECT_EQ(error({.globalBatch = 3, .microBatch = 4}),
            "train.global_batch: 3 is not a multiple of 1 data ranks x train.micro_batch 4. Works: 4.");
  EXPECT_EQ(error({.globalBatch = 0}),
            "train.global_batch (0), train.micro_batch (1) and data ranks (1) must be at "
            "least 1");
  EXPECT_EQ(error({.dataRanks = 2, .rank = 2}), "data rank 2 is not one of the 2 data ranks");
  EXPECT_EQ(error({.prefetch = 0}),
            "reading ahead 0 microbatches from step 0: at least 1 and at least 0 are possible");
  EXPECT_EQ(error({.split = Split::Validation}),
            "no tokens are held out: set data.validation_fraction above 0");
  auto loader = DataLoader::create(data, {.globalBatch = 2, .microBatch = 2});
  Buffers part(2);
  EXPECT_EQ((*loader)->read(0, 1, part.view()).message(),
            "microbatch 1 of step 0: a step has 1 microbatches of 2 samples and 16 tokens");
}

TEST(DataLoader, TheRingHasItsRowInTheMemoryPlan) {
  EXPECT_EQ(DataLoader::bufferBytes(256, {.microBatch = 4, .prefetch = 2}), 2 * 4 * (256 * 16 + 8));
}

} // namespace
} // namespace weft
