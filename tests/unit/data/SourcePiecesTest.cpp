//===- SourcePiecesTest.cpp - A corpus file, cut where it may be cut ------===//
#include "runtime/data/SourcePieces.h"

#include "Compressed.h"
#include "WordTokenizer.h"
#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

SourceFile sourceFile(const std::string &path) { return findSourceFiles(path)->front(); }

absl::StatusOr<std::vector<SourcePiece>> pieces(const SourceFile &file, SourcePosition begin = {},
                                                PieceReaderOptions options = {}) {
  static const WordTokenizer tokenizer;
  auto reader = PieceReader::open(
      file, begin, [&](std::string_view text) { return tokenizer.independentPrefix(text); }, options);
  if (!reader.ok())
    return reader.status();
  std::vector<SourcePiece> result;
  do {
    if (absl::Status status = reader->next(result.emplace_back()); !status.ok())
      return status;
  } while (!result.back().endsFile);
  return result;
}

std::string joined(const std::vector<SourcePiece> &pieces) {
  std::string text;
  for (const SourcePiece &piece : pieces)
    text += piece.text;
  return text;
}

/// Words of one to 200,000 letters.
std::string textWithLongWords() {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += std::string(i % 20 == 7 ? 200'000 : 1 + i * 977 % 10'000, static_cast<char>('a' + i % 26)) + " ";
  return text;
}

TEST(SourcePieces, TextIsCutWhereTheTokenizerAllows) {
  TestFolder folder;
  std::string text = textWithLongWords();
  for (const std::string &contents : {text, gzip(text), zstd(text)}) {
    SourceFile file = sourceFile(folder.write("a.txt", contents));
    auto all = pieces(file);
    ASSERT_TRUE(all.ok()) << all.status();
    EXPECT_EQ(joined(*all), text);
    EXPECT_GT(all->size(), 3u);
    for (const SourcePiece &piece : *all)
      EXPECT_TRUE(piece.endsFile || piece.text.ends_with(' '));
    EXPECT_EQ(all->back().end.file, 1);
  }
}

TEST(SourcePieces, WhereACutFallsDependsOnTheLastOneAlone) {
  TestFolder folder;
  std::string lines;
  for (int i = 0; i < 3000; ++i)
    lines += "{\"text\": \"" + std::string(i % 1000 == 3 ? 300'000 : i % 500, 'x') + "\"}\r\n";
  for (const SourceFile &file :
       {sourceFile(folder.write("a.txt", textWithLongWords())), sourceFile(folder.write("a.jsonl", lines)),
        sourceFile(folder.write("b.jsonl.zst", zstd(lines)))}) {
    auto all = pieces(file);
    ASSERT_TRUE(all.ok()) << all.status();
    for (size_t first = 1; first < all->size(); ++first) {
      auto rest = pieces(file, (*all)[first].begin);
      ASSERT_TRUE(rest.ok()) << rest.status();
      ASSERT_EQ(rest->size(), all->size() - first);
      for (size_t i = 0; i < rest->size(); ++i) {
        EXPECT_EQ((*rest)[i].text, (*all)[first + i].text);
        EXPECT_EQ((*rest)[i].end.lines, (*all)[first + i].end.lines);
      }
    }
  }
}

TEST(SourcePieces, JsonlIsCutBetweenLinesAndCounted) {
  TestFolder folder;
  std::string lines;
  for (int i = 0; i < 100'000; ++i)
    lines += "{}\n";
  auto all = pieces(sourceFile(folder.write("a.jsonl", lines + "{}")));
  ASSERT_GT(all->size(), 2u);
  EXPECT_EQ(joined(*all), lines + "{}");
  for (size_t i = 0; i + 1 < all->size(); ++i) {
    EXPECT_TRUE((*all)[i].text.ends_with('\n'));
    EXPECT_EQ((*all)[i].end.lines, static_cast<int64_t>((*all)[i].end.offset / 3));
  }
}

TEST(SourcePieces, AnEmptyFileIsOneEmptyPiece) {
  TestFolder folder;
  for (const char *name : {"a.txt", "a.jsonl"}) {
    auto all = pieces(sourceFile(folder.write(name, "")));
    ASSERT_EQ(all->size(), 1u);
    EXPECT_EQ(all->front().text, "");
  }
}

TEST(SourcePieces, EndlessLinesAreRefused) {
  TestFolder folder;
  SourceFile file = sourceFile(folder.write("a.jsonl", "{}\n" + std::string(3'000'000, 'x')));
  EXPECT_EQ(folder.relative(pieces(file, {}, {.longestLine = 1'000'000}).status().message()),
            "a.jsonl:2: the line is longer than 1000000 bytes");
  EXPECT_EQ(joined(*pieces(file, {}, {.longestLine = 3'000'000})).size(), 3'000'003u);
}

} // namespace
} // namespace weft
