//===- IndexedDatasetTest.cpp - Writing tokens and reading them back ------===//
#include "runtime/data/IndexedDataset.h"
#include "runtime/data/IndexedDatasetWriter.h"

#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

void writeDataset(const std::string &prefix, TokenType type,
                  const std::vector<std::vector<int32_t>> &documents) {
  auto writer = IndexedDatasetWriter::create(prefix, type);
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (const auto &document : documents) {
    ASSERT_TRUE(writer->appendTokens(document).ok());
    writer->endDocument();
  }
  ASSERT_TRUE(writer->commit().ok());
}

std::vector<int32_t> readAll(const IndexedDataset &dataset) {
  std::vector<int32_t> tokens(dataset.tokens());
  EXPECT_TRUE(dataset.read(0, tokens, 1 << 20).ok());
  return tokens;
}

class EveryTokenType : public testing::TestWithParam<TokenType> {};

TEST_P(EveryTokenType, RoundTrips) {
  TestFolder folder;
  writeDataset(folder.path("d"), GetParam(), {{1, 2, 3}, {127}, {5, 0}});
  auto dataset = IndexedDataset::open(folder.path("d"));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(readAll(*dataset), (std::vector<int32_t>{1, 2, 3, 127, 5, 0}));
  EXPECT_EQ(dataset->index().documents(), 3);
  EXPECT_EQ(dataset->index().tokenType(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(IndexedDataset, EveryTokenType,
                         testing::Values(TokenType::U8, TokenType::I8, TokenType::I16, TokenType::U16,
                                         TokenType::I32, TokenType::I64),
                         [](const auto &info) { return std::string(name(info.param)); });

TEST(IndexedDataset, OpensByPrefixOrEitherFile) {
  TestFolder folder;
  writeDataset(folder.path("d"), TokenType::U16, {{1}});
  for (const char *name : {"d", "d.idx", "d.bin"})
    EXPECT_TRUE(IndexedDataset::open(folder.path(name)).ok()) << name;
}

TEST(IndexedDataset, LongDocumentsBecomeSeveralSequencesOfOneDocument) {
  TestFolder folder;
  auto writer = IndexedDatasetWriter::create(folder.path("d"), TokenType::U16, 4);
  std::vector<int32_t> tokens = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  ASSERT_TRUE(writer->appendTokens(tokens).ok());
  writer->endDocument();
  ASSERT_TRUE(writer->appendTokens(std::span(tokens).first(4)).ok());
  ASSERT_TRUE(writer->commit().ok());
  auto dataset = IndexedDataset::open(folder.path("d"));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(dataset->index().sequences(), 4);
  EXPECT_EQ(dataset->index().documents(), 2);
  EXPECT_EQ(dataset->index().sequenceLength(2), 2);
  EXPECT_EQ(dataset->index().documentOfToken(9), 0);
  EXPECT_EQ(dataset->index().documentOfToken(10), 1);
}

TEST(IndexedDataset, ATokenOutsideOfTheVocabularyIsNamed) {
  TestFolder folder;
  writeDataset(folder.path("d"), TokenType::I32, {{1, 2, 300, 4, -1}});
  auto dataset = IndexedDataset::open(folder.path("d"));
  std::vector<int32_t> out(3);
  EXPECT_EQ(
      folder.relative(dataset->read(1, out, 257).message()),
      "d.bin: token 2 is outside of the vocabulary of 257 ids. The data was prepared with another tokenizer: "
      "prepare it again.");
  EXPECT_TRUE(dataset->read(0, std::span(out).first(2), 257).ok());
  EXPECT_FALSE(dataset->read(4, std::span(out).first(1), 257).ok());
}

TEST(IndexedDataset, MissingFilesAreNamed) {
  TestFolder folder;
  EXPECT_EQ(folder.relative(IndexedDataset::open(folder.path("d")).status().message()),
            "d.idx: no such file");
  writeDataset(folder.path("d"), TokenType::U16, {{1}});
  std::filesystem::remove(folder.path("d.bin"));
  EXPECT_EQ(folder.relative(IndexedDataset::open(folder.path("d")).status().message()),
            "d.bin: no such file");
}

TEST(IndexedDataset, ATruncatedBinIsRefused) {
  TestFolder folder;
  writeDataset(folder.path("d"), TokenType::U16, {{1, 2, 3}});
  std::filesystem::resize_file(folder.path("d.bin"), 4);
  EXPECT_EQ(IndexedDataset::open(folder.path("d")).status().code(), absl::StatusCode::kDataLoss);
}

TEST(IndexedDataset, ChecksumFollowsTheContents) {
  TestFolder folder;
  writeDataset(folder.path("a"), TokenType::U16, {{1, 2, 3}});
  writeDataset(folder.path("same"), TokenType::U16, {{1, 2, 3}});
  writeDataset(folder.path("token"), TokenType::U16, {{1, 2, 4}});
  writeDataset(folder.path("border"), TokenType::U16, {{1, 2}, {3}});
  uint64_t sum = IndexedDataset::open(folder.path("a"))->checksum();
  EXPECT_EQ(IndexedDataset::open(folder.path("same"))->checksum(), sum);
  EXPECT_NE(IndexedDataset::open(folder.path("token"))->checksum(), sum);
  EXPECT_NE(IndexedDataset::open(folder.path("border"))->checksum(), sum);
}

TEST(IndexedDatasetWriter, AnAbandonedRewriteKeepsTheOldDataset) {
  TestFolder folder;
  writeDataset(folder.path("d"), TokenType::U16, {{1, 2, 3}});
  {
    auto writer = IndexedDatasetWriter::create(folder.path("d"), TokenType::U16);
    ASSERT_TRUE(writer->appendTokens(std::vector<int32_t>{9, 9}).ok());
  }
  EXPECT_EQ(readAll(*IndexedDataset::open(folder.path("d"))), (std::vector<int32_t>{1, 2, 3}));
}

TEST(IndexedDatasetWriter, ReplacesAnOldDataset) {
  TestFolder folder;
  writeDataset(folder.path("d"), TokenType::U16, {{1, 2, 3}});
  writeDataset(folder.path("d"), TokenType::I32, {{4}});
  EXPECT_EQ(readAll(*IndexedDataset::open(folder.path("d"))), (std::vector<int32_t>{4}));
}

} // namespace
} // namespace weft
