//===- PrepareTest.cpp - Text to tokens on the disk -----------------------===//
#include "runtime/data/Prepare.h"
#include "runtime/data/IndexedDataset.h"
#include "runtime/support/ExitCode.h"
#include "runtime/tokenizer/BytesTokenizer.h"

#include "Compressed.h"
#include "WordTokenizer.h"
#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/resource.h>

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

PrepareOptions withThreads(int64_t threads) {
  PrepareOptions options;
  options.threads = threads;
  return options;
}

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
  PrepareOptions options;
  options.jsonKey = "content";
  ASSERT_TRUE(prepare(folder, {path}, options).ok());
  EXPECT_EQ(documents(folder.path("out")), (Documents{"yes"}));
}

TEST(Prepare, JsonErrorsNameFileAndLine) {
  TestFolder folder;
  std::string path = folder.write("a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\n");
  EXPECT_EQ(folder.relative(prepare(folder, {path}).status().message()),
            "a.jsonl:2: the line ends where the end of a string is expected (column 14).");
  EXPECT_FALSE(folder.has("out.idx"));
  EXPECT_FALSE(folder.has("out.bin.tmp"));
  EXPECT_FALSE(folder.has("out.bin.journal"));
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

/// A corpus of text and JSONL, plain and compressed, of some megabytes.
std::vector<std::string> writeCorpus(const TestFolder &folder) {
  std::string text;
  for (int i = 0; i < 400'000; ++i)
    text += std::string(1 + i * 31 % 9, static_cast<char>('a' + i % 26)) + " ";
  std::string lines;
  for (size_t at = 0; at < text.size(); at += 3000)
    lines += "{\"text\": \"" + text.substr(at, 3000) + "\"}\n";
  folder.write("in/a.txt", text);
  folder.write("in/b.jsonl", lines);
  folder.write("in/c.txt.gz", gzip(text));
  folder.write("in/d.jsonl.zst", zstd(lines));
  return {folder.path("in")};
}

struct Dataset {
  std::string bin;
  std::string idx;
  bool operator==(const Dataset &) const = default;
};

Dataset dataset(const TestFolder &folder, const std::string &prefix) {
  return {folder.read(prefix + ".bin"), folder.read(prefix + ".idx")};
}

Dataset prepareAtOnce(const TestFolder &folder, const std::vector<std::string> &paths) {
  auto result = prepareData(paths, folder.path("whole"), WordTokenizer(), withThreads(1));
  EXPECT_TRUE(result.ok()) << result.status();
  return dataset(folder, "whole");
}

TEST(Prepare, ThreadsChangeNoByte) {
  TestFolder folder;
  std::vector<std::string> paths = writeCorpus(folder);
  Dataset one = prepareAtOnce(folder, paths);
  for (int64_t threads : {2, 7}) {
    ASSERT_TRUE(prepareData(paths, folder.path("several"), WordTokenizer(), withThreads(threads)).ok());
    EXPECT_TRUE(dataset(folder, "several") == one) << threads;
  }
}

/// Stops a preparation after `units` units, in parts of `partBytes`.
absl::Status prepareAndStop(const TestFolder &folder, const std::vector<std::string> &paths, int units,
                            int64_t partBytes = 100'000) {
  PrepareOptions options = withThreads(2);
  options.partBytes = partBytes;
  options.shouldStop = [&units] { return --units <= 0; };
  return prepareData(paths, folder.path("out"), WordTokenizer(), options).status();
}

TEST(Prepare, GoesOnWhereItWasStoppedToTheSameBytes) {
  TestFolder folder;
  std::vector<std::string> paths = writeCorpus(folder);
  Dataset whole = prepareAtOnce(folder, paths);
  for (int first : {1, 2, 3, 4, 6, 9, 13, 17}) {
    absl::Status stopped = prepareAndStop(folder, paths, first);
    EXPECT_TRUE(absl::IsCancelled(stopped)) << stopped;
    EXPECT_EQ(exitCodeOf(stopped), ExitCode::Stopped);
    EXPECT_FALSE(folder.has("out.idx"));
    prepareAndStop(folder, paths, 3, 1'000'000'000).IgnoreError();
    std::string notice;
    PrepareOptions options = withThreads(3);
    options.onNotice = [&](const std::string &text) { notice = folder.relative(text); };
    auto result = prepareData(paths, folder.path("out"), WordTokenizer(), options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(notice.starts_with("going on with out after ")) << notice;
    EXPECT_GT(result->textBytesBefore, 0);
    EXPECT_TRUE(dataset(folder, "out") == whole) << first;
    EXPECT_FALSE(folder.has("out.bin.journal"));
    std::filesystem::remove(folder.path("out.idx"));
    std::filesystem::remove(folder.path("out.bin"));
  }
}

TEST(Prepare, WhatADyingProcessWroteLastIsNotTrusted) {
  TestFolder folder;
  std::vector<std::string> paths = writeCorpus(folder);
  Dataset whole = prepareAtOnce(folder, paths);
  prepareAndStop(folder, paths, 20).IgnoreError();
  std::string bin = folder.read("out.bin.tmp");
  std::string journal = folder.read("out.bin.journal");
  auto isRepaired = [&](const std::string &damagedBin, const std::string &damagedJournal) {
    folder.write("out.bin.tmp", damagedBin);
    folder.write("out.bin.journal", damagedJournal);
    auto result = prepareData(paths, folder.path("out"), WordTokenizer(), withThreads(2));
    return result.ok() && dataset(folder, "out") == whole;
  };
  EXPECT_TRUE(isRepaired(bin.substr(0, bin.size() / 2), journal));
  EXPECT_TRUE(isRepaired("", journal));
  EXPECT_TRUE(isRepaired(bin, ""));
  EXPECT_TRUE(isRepaired(bin + "garbage", journal + "garbage"));
  for (size_t at : {size_t{3}, size_t{60}, journal.size() / 2, journal.size() - 9, journal.size() - 1}) {
    std::string damaged = journal;
    damaged[at] ^= 1;
    EXPECT_TRUE(isRepaired(bin, damaged)) << at;
    EXPECT_TRUE(isRepaired(bin, journal.substr(0, at))) << at;
  }
  std::string damaged = bin;
  damaged[damaged.size() / 3] ^= 1;
  EXPECT_TRUE(isRepaired(damaged, journal));
}

TEST(Prepare, WhatChangedBeginsAnewAndIsNamed) {
  TestFolder folder;
  std::vector<std::string> paths = writeCorpus(folder);
  auto noticeOf = [&](const Tokenizer &tokenizer, const std::string &key) {
    prepareAndStop(folder, paths, 9).IgnoreError();
    std::string notice;
    PrepareOptions options;
    options.jsonKey = key;
    options.onNotice = [&](const std::string &text) { notice = folder.relative(text); };
    options.shouldStop = [] { return true; };
    EXPECT_TRUE(absl::IsCancelled(prepareData(paths, folder.path("out"), tokenizer, options).status()));
    std::filesystem::remove(folder.path("out.bin.journal"));
    return notice;
  };
  std::string frame = "a preparation of out was not finished and cannot go on: ";
  EXPECT_EQ(noticeOf(WordTokenizer(900), "text"), frame + "the tokenizer is another one. It begins anew.");
  EXPECT_EQ(noticeOf(WordTokenizer(), "body"), frame + "the JSON key is another one. It begins anew.");
  EXPECT_EQ(noticeOf(WordTokenizer(), "text").substr(0, 10), "going on w");
  prepareAndStop(folder, paths, 9).IgnoreError();
  folder.write("in/d.jsonl.zst", zstd("{\"text\": \"another line\"}\n"));
  std::string notice;
  PrepareOptions options;
  options.onNotice = [&](const std::string &text) { notice = folder.relative(text); };
  ASSERT_TRUE(prepareData(paths, folder.path("out"), WordTokenizer(), options).ok());
  EXPECT_EQ(notice, frame + "the source files have changed. It begins anew.");
  EXPECT_TRUE(dataset(folder, "out") == prepareAtOnce(folder, paths));
}

TEST(Prepare, DeathBetweenTheTwoRenamesLosesNothing) {
  TestFolder folder;
  std::vector<std::string> paths = writeCorpus(folder);
  Dataset whole = prepareAtOnce(folder, paths);
  int units = 0;
  PrepareOptions counting;
  counting.shouldStop = [&units] { return ++units < 0; };
  ASSERT_TRUE(prepareData(paths, folder.path("out"), WordTokenizer(), counting).ok());
  std::filesystem::remove(folder.path("out.idx"));
  // All parts are whole and in the journal, the .bin has its name, the .idx has not.
  ASSERT_TRUE(absl::IsCancelled(prepareAndStop(folder, paths, units)));
  std::filesystem::rename(folder.path("out.bin.tmp"), folder.path("out.bin"));
  auto result = prepareData(paths, folder.path("out"), WordTokenizer(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->textBytesBefore, result->textBytes);
  EXPECT_TRUE(dataset(folder, "out") == whole);
}

TEST(Prepare, ASecondPreparationOfTheSameFilesIsRefused) {
  TestFolder folder;
  std::vector<std::string> paths = {folder.write("a.txt", "some words")};
  PrepareOptions options;
  options.shouldStop = [&] {
    auto second = prepareData(paths, folder.path("out"), WordTokenizer(), {});
    EXPECT_EQ(folder.relative(second.status().message()),
              "out.bin.journal: another process is writing it. Wait until it is done.");
    return false;
  };
  EXPECT_TRUE(prepareData(paths, folder.path("out"), WordTokenizer(), options).ok());
}

TEST(Prepare, AFullDiskKeepsTheWholeParts) {
  TestFolder folder;
  std::vector<std::string> paths = writeCorpus(folder);
  Dataset whole = prepareAtOnce(folder, paths);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = {whole.bin.size() / 2, before.rlim_max};
  auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  PrepareOptions options;
  options.partBytes = 200'000;
  auto failed = prepareData(paths, folder.path("out"), WordTokenizer(), options);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, oldHandler);
  std::string message = folder.relative(failed.status().message());
  EXPECT_TRUE(message.starts_with("out.bin.tmp: cannot write: File too large. About ")) << message;
  EXPECT_TRUE(message.ends_with(" of out are done and kept: the same command goes on from there."))
      << message;
  EXPECT_FALSE(folder.has("out.idx"));
  auto result = prepareData(paths, folder.path("out"), WordTokenizer(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->textBytesBefore, result->textBytes / 3);
  EXPECT_TRUE(dataset(folder, "out") == whole);
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
