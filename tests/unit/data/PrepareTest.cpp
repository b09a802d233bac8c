//===- PrepareTest.cpp - Text to tokens on the disk -----------------------===//
#include "runtime/data/Prepare.h"
#include "runtime/data/IndexedDataset.h"
#include "runtime/tokenizer/BytesTokenizer.h"

#include "TestFolder.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

/// The documents of a dataset of bytes; each must end with the end-of-document token.
std::vector<std::string> documents(const std::string &prefix) {
  BytesTokenizer tokenizer;
  auto dataset = IndexedDataset::open(prefix);
  EXPECT_TRUE(dataset.ok()) << dataset.status();
  std::vector<int32_t> tokens(dataset->tokens());
  EXPECT_TRUE(dataset->read(0, tokens, tokenizer.vocabularySize()).ok());
  std::vector<std::string> result(1);
  for (int32_t token : tokens) {
    if (token == tokenizer.endOfDocument())
      result.emplace_back();
    else
      result.back().push_back(static_cast<char>(token));
  }
  EXPECT_EQ(result.back(), "");
  result.pop_back();
  EXPECT_EQ(static_cast<int64_t>(result.size()), dataset->index().documents());
  return result;
}

using Documents = std::vector<std::string>;

absl::StatusOr<PrepareResult> prepare(const TestFolder &folder, std::vector<std::string> paths,
                                      PrepareOptions options = {}) {
  return prepareData(paths, folder.path("out"), BytesTokenizer(), options);
}

TEST(Prepare, AFileIsADocument) {
  TestFolder folder;
  auto result = prepare(folder, {folder.write("a.txt", "hello\n"), folder.write("b.txt", "\xff not UTF-8")});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(documents(folder.path("out")), (Documents{"hello\n", "\xff not UTF-8"}));
  EXPECT_EQ(result->documents, 2);
  EXPECT_EQ(result->tokens, 6 + 1 + 11 + 1);
  EXPECT_EQ(result->textBytes, 17);
  EXPECT_EQ(result->files, 2);
}

TEST(Prepare, AFolderIsItsFilesAndEmptyOnesAreLeftOut) {
  TestFolder folder;
  folder.write("in/b.md", "second");
  folder.write("in/a/x.txt", "first");
  folder.write("in/empty.txt", "");
  auto result = prepare(folder, {folder.path("in")});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(documents(folder.path("out")), (Documents{"first", "second"}));
  EXPECT_EQ(result->emptyDocuments, 1);
}

TEST(Prepare, LongFilesAreReadInPieces) {
  TestFolder folder;
  std::string text;
  for (int i = 0; i < 300'000; ++i)
    text += static_cast<char>(i * 31 + i / 256);
  ASSERT_TRUE(prepare(folder, {folder.write("a.txt", text)}).ok());
  EXPECT_EQ(documents(folder.path("out")), (Documents{text}));
}

TEST(Prepare, ALineOfJsonlIsADocument) {
  TestFolder folder;
  std::string path = folder.write(
      "a.jsonl", "{\"text\": \"one\"}\n\n{\"id\": 1, \"text\": \"t\\u00e9\"}\n{\"text\":\"\"}\n");
  auto result = prepare(folder, {path});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(documents(folder.path("out")), (Documents{"one", "t\xC3\xA9"}));
  EXPECT_EQ(result->emptyDocuments, 1);
}

TEST(Prepare, AnotherKeyOfJsonlMayBeNamed) {
  TestFolder folder;
  std::string path = folder.write("a.jsonl", "{\"text\": \"no\", \"content\": \"yes\"}\n");
  ASSERT_TRUE(prepare(folder, {path}, {.jsonKey = "content", .onProgress = {}}).ok());
  EXPECT_EQ(documents(folder.path("out")), (Documents{"yes"}));
}

TEST(Prepare, JsonErrorsNameFileAndLine) {
  TestFolder folder;
  std::string path = folder.write("a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\n");
  EXPECT_EQ(folder.relative(prepare(folder, {path}).status().message()),
            "a.jsonl:2: the line ends where the end of a string is expected (column 14).");
  EXPECT_FALSE(folder.has("out.idx"));
  EXPECT_FALSE(folder.has("out.bin.tmp"));
}

TEST(Prepare, NothingIsNoData) {
  TestFolder folder;
  EXPECT_EQ(folder.relative(prepare(folder, {folder.write("a.txt", "")}).status().message()),
            "a.txt: no text at all: there is nothing to prepare");
  EXPECT_EQ(
      folder.relative(prepare(folder, {folder.path("a.txt"), folder.write("b.txt", "")}).status().message()),
      "a.txt and the other files: no text at all: there is nothing to prepare");
  EXPECT_EQ(folder.relative(prepare(folder, {folder.path("no.txt")}).status().message()),
            "no.txt: no such file");
}

TEST(Prepare, ProgressEndsAtTheTotal) {
  TestFolder folder;
  PrepareProgress last;
  PrepareOptions options;
  options.onProgress = [&](const PrepareProgress &progress) { last = progress; };
  ASSERT_TRUE(prepare(folder, {folder.write("a.txt", "12345")}, options).ok());
  EXPECT_EQ(last.bytesRead, 5);
  EXPECT_EQ(last.bytesTotal, 5);
  EXPECT_EQ(last.documents, 1);
  EXPECT_EQ(last.tokens, 6);
  EXPECT_EQ(last.secondsLeft, 0);
}

TEST(Prepare, TheCacheIsUsedUntilTheCorpusChanges) {
  TestFolder folder;
  BytesTokenizer tokenizer;
  std::string path = folder.write("a.txt", "first");
  std::string cache = folder.path("cache/data");
  std::string prefix = *prepareIntoCache(path, cache, tokenizer, {});
  EXPECT_EQ(documents(prefix), (Documents{"first"}));
  auto written = std::filesystem::last_write_time(prefix + ".bin");
  EXPECT_EQ(*prepareIntoCache(path, cache, tokenizer, {}), prefix);
  EXPECT_EQ(std::filesystem::last_write_time(prefix + ".bin"), written);

  folder.write("a.txt", "second version");
  std::string changed = *prepareIntoCache(path, cache, tokenizer, {});
  EXPECT_NE(changed, prefix);
  EXPECT_EQ(documents(changed), (Documents{"second version"}));

  std::filesystem::resize_file(changed + ".bin", 3);
  EXPECT_EQ(*prepareIntoCache(path, cache, tokenizer, {}), changed);
  EXPECT_EQ(documents(changed), (Documents{"second version"}));
}

TEST(Prepare, APreparedDatasetIsItsOwnCache) {
  TestFolder folder;
  ASSERT_TRUE(prepare(folder, {folder.write("a.txt", "x")}).ok());
  BytesTokenizer tokenizer;
  for (const char *name : {"out", "out.idx", "out.bin"})
    EXPECT_EQ(*prepareIntoCache(folder.path(name), folder.path("cache"), tokenizer, {}), folder.path("out"));
  EXPECT_FALSE(folder.has("cache"));
}

} // namespace
} // namespace weft
