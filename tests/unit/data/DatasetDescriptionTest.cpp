//===- DatasetDescriptionTest.cpp - Which tokenizer made a dataset --------===//
#include "runtime/data/DatasetDescription.h"
#include "runtime/data/Prepare.h"

#include "WordTokenizer.h"
#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

IndexedDataset prepared(const TestFolder &folder, const Tokenizer &tokenizer, std::string_view text) {
  auto result = prepareData({folder.write("a.txt", text)}, folder.path("d"), tokenizer, {});
  EXPECT_TRUE(result.ok()) << result.status();
  return *IndexedDataset::open(folder.path("d"));
}

TEST(DatasetDescription, TheTokenizerOfADatasetIsKnown) {
  TestFolder folder;
  WordTokenizer tokenizer;
  IndexedDataset dataset = prepared(folder, tokenizer, "some words");
  auto description = readDescription(dataset);
  ASSERT_TRUE(description.has_value());
  EXPECT_EQ(description->tokenizerKind, "words");
  EXPECT_EQ(description->tokenizerChecksum, tokenizer.checksum());
  EXPECT_TRUE(checkTokenizer(dataset, tokenizer).ok());
}

TEST(DatasetDescription, AnotherTokenizerIsRefused) {
  TestFolder folder;
  WordTokenizer tokenizer;
  IndexedDataset dataset = prepared(folder, tokenizer, "some words");
  absl::Status status = checkTokenizer(dataset, WordTokenizer(1000));
  EXPECT_TRUE(folder.relative(status.message())
                  .starts_with("d: was prepared with a tokenizer of kind words, checksum "))
      << status;
  EXPECT_FALSE(prepareIntoCache(folder.path("d"), folder.path("cache"), WordTokenizer(1000), {}).ok());
  EXPECT_EQ(*prepareIntoCache(folder.path("d"), folder.path("cache"), tokenizer, {}), folder.path("d"));
}

TEST(DatasetDescription, OneOfOtherDataOrNoneIsNotBelieved) {
  TestFolder folder;
  WordTokenizer tokenizer;
  prepared(folder, tokenizer, "some words");
  std::string old = folder.read("d.dataset.json");
  IndexedDataset dataset = prepared(folder, tokenizer, "other words");
  for (const std::string &contents :
       {old, std::string(), std::string("{\"dataset\": 1}"), std::string("x")}) {
    folder.write("d.dataset.json", contents);
    EXPECT_FALSE(readDescription(dataset).has_value()) << contents;
    EXPECT_TRUE(checkTokenizer(dataset, WordTokenizer(1000)).ok());
  }
}

} // namespace
} // namespace weft
