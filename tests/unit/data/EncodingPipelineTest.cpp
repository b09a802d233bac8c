//===- EncodingPipelineTest.cpp - A corpus encoded on all cores -----------===//
#include "runtime/data/EncodingPipeline.h"

#include "Compressed.h"
#include "WordTokenizer.h"
#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

/// All that comes out, joined.
struct Encoded {
  std::vector<std::byte> stored;
  std::vector<int64_t> documentTokens;
  int64_t emptyDocuments = 0;
  std::vector<SourcePosition> ends;
  absl::Status status;
};

Encoded encodeAll(const std::vector<SourceFile> &files, int64_t threads, SourcePosition begin = {}) {
  WordTokenizer tokenizer;
  EncodingPipeline pipeline(files, tokenizer,
                            {.threads = threads, .type = TokenType::U16, .jsonKey = "text", .begin = begin});
  Encoded all;
  int64_t open = 0;
  while (true) {
    auto pieces = pipeline.next();
    all.status = pieces.status();
    if (!pieces.ok() || !*pieces)
      return all;
    all.stored.insert(all.stored.end(), (*pieces)->stored.begin(), (*pieces)->stored.end());
    for (int64_t tokens : (*pieces)->documentTokens)
      all.documentTokens.push_back(tokens + std::exchange(open, 0));
    open += (*pieces)->openTokens;
    all.emptyDocuments += (*pieces)->emptyDocuments;
    all.ends.push_back((*pieces)->end);
  }
}

std::string words(int count, int salt) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += std::string(1 + (i * 31 + salt) % 12, static_cast<char>('a' + (i + salt) % 26)) + " ";
  return text;
}

/// Big and small files, text and JSONL, plain and compressed, some empty.
std::vector<SourceFile> corpus(const TestFolder &folder) {
  for (int i = 0; i < 60; ++i) {
    std::string text = words(i % 13 == 5 ? 300'000 : i * 50, i);
    std::string lines;
    for (size_t at = 0; at < text.size(); at += 5000)
      lines += "{\"text\": \"" + text.substr(at, 5000) + "\"}\n";
    std::string name = "in/" + std::to_string(100 + i);
    if (i % 3 == 0)
      folder.write(name + ".txt", text);
    else if (i % 3 == 1)
      folder.write(name + ".jsonl.zst", zstd(lines));
    else
      folder.write(name + ".jsonl.gz", gzip(lines));
  }
  return *findSourceFiles(folder.path("in"));
}

TEST(EncodingPipeline, ThreadsChangeNothing) {
  TestFolder folder;
  std::vector<SourceFile> files = corpus(folder);
  Encoded one = encodeAll(files, 1);
  ASSERT_TRUE(one.status.ok()) << one.status;
  EXPECT_GT(one.documentTokens.size(), 1000u);
  EXPECT_GT(one.emptyDocuments, 0);
  for (int64_t threads : {2, 3, 8, 24}) {
    Encoded several = encodeAll(files, threads);
    EXPECT_EQ(several.stored, one.stored) << threads;
    EXPECT_EQ(several.documentTokens, one.documentTokens) << threads;
    EXPECT_EQ(several.emptyDocuments, one.emptyDocuments) << threads;
  }
}

TEST(EncodingPipeline, GoesOnWhereAnotherOneStopped) {
  TestFolder folder;
  std::vector<SourceFile> files = corpus(folder);
  Encoded whole = encodeAll(files, 2);
  for (size_t i = 0; i < whole.ends.size(); i += 3) {
    Encoded rest = encodeAll(files, 2, whole.ends[i]);
    ASSERT_TRUE(rest.status.ok()) << rest.status;
    ASSERT_LE(rest.stored.size(), whole.stored.size());
    EXPECT_TRUE(std::equal(rest.stored.rbegin(), rest.stored.rend(), whole.stored.rbegin()));
  }
}

TEST(EncodingPipeline, TheFirstErrorOfTheCorpusIsTold) {
  TestFolder folder;
  std::vector<SourceFile> files = corpus(folder);
  std::string bad = folder.write("bad.jsonl", "{\"text\": \"\"}\n\n{\"text\": 1}\n");
  SourceFile missing = files.front();
  missing.path = folder.path("missing.txt");
  files.insert(files.begin() + 30, {findSourceFiles(bad)->front(), missing});
  for (int64_t threads : {1, 2, 9}) {
    EXPECT_EQ(folder.relative(encodeAll(files, threads).status.message()),
              "bad.jsonl:3: a string for the key \"text\" is expected at column 10.");
    std::swap(files[30], files[31]);
    EXPECT_EQ(folder.relative(encodeAll(files, threads).status.message()), "missing.txt: no such file");
    std::swap(files[30], files[31]);
  }
}

TEST(EncodingPipeline, MayBeLeftAtAnyTime) {
  TestFolder folder;
  std::vector<SourceFile> files = corpus(folder);
  WordTokenizer tokenizer;
  for (int taken = 0; taken < 12; ++taken) {
    EncodingPipeline pipeline(files, tokenizer, {.threads = 3, .jsonKey = "text", .begin = {}});
    for (int i = 0; i < taken; ++i)
      EXPECT_TRUE(pipeline.next().ok());
  }
}

} // namespace
} // namespace weft
