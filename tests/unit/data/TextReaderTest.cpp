//===- TextReaderTest.cpp - Plain, gzip and Zstandard files ---------------===//
#include "runtime/data/TextReader.h"

#include "Compressed.h"
#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft {
namespace {

absl::StatusOr<std::string> readAll(const std::string &path) {
  auto reader = TextReader::open(path);
  if (!reader.ok())
    return reader.status();
  std::string text;
  std::vector<char> piece(1000);
  while (true) {
    auto count = (*reader)->read(piece);
    if (!count.ok())
      return count.status();
    if (*count == 0)
      return text;
    text.append(piece.data(), *count);
  }
}

std::string longText() {
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text += std::to_string(i * 7919 % 100003);
  return text;
}

TEST(TextReader, DecompressesWhatTheFileBeginsWith) {
  TestFolder folder;
  std::string text = longText();
  EXPECT_EQ(*readAll(folder.write("a", text)), text);
  EXPECT_EQ(*readAll(folder.write("a.gz", gzip(text))), text);
  EXPECT_EQ(*readAll(folder.write("a.zst", zstd(text))), text);
  EXPECT_EQ(*readAll(folder.write("empty", "")), "");
  EXPECT_EQ(*readAll(folder.write("empty.gz", gzip(""))), "");
}

TEST(TextReader, ConcatenatedMembersAreOneText) {
  TestFolder folder;
  EXPECT_EQ(*readAll(folder.write("a.gz", gzip("one ") + gzip("two"))), "one two");
  EXPECT_EQ(*readAll(folder.write("a.zst", zstd("one ") + zstd("two"))), "one two");
}

TEST(TextReader, DamagedFilesAreNamed) {
  TestFolder folder;
  std::string text = longText();
  auto error = [&](const std::string &name, std::string contents) {
    return folder.relative(readAll(folder.write(name, contents)).status().message());
  };
  std::string zipped = gzip(text);
  EXPECT_EQ(error("a.gz", zipped.substr(0, zipped.size() / 2)),
            "a.gz: the gzip data ends too soon. The file is damaged: fetch it again.");
  zipped[zipped.size() - 6] ^= 1;
  EXPECT_EQ(error("b.gz", zipped),
            "b.gz: not valid gzip data (incorrect data check). The file is damaged: fetch it again.");
  std::string standard = zstd(text);
  EXPECT_EQ(error("a.zst", standard.substr(0, standard.size() / 2)),
            "a.zst: the Zstandard data ends too soon. The file is damaged: fetch it again.");
  standard[5] ^= 0x40;
  EXPECT_TRUE(error("b.zst", standard).starts_with("b.zst: not valid Zstandard data ("));
}

TEST(TextReader, OnlyFilesAreOpened) {
  TestFolder folder;
  EXPECT_EQ(folder.relative(TextReader::open(folder.path("no")).status().message()), "no: no such file");
  std::filesystem::create_directory(folder.path("sub"));
  EXPECT_EQ(folder.relative(TextReader::open(folder.path("sub")).status().message()),
            "sub: is not a regular file");
}

TEST(TextReader, SkipsTextOfEveryKind) {
  TestFolder folder;
  std::string text = longText();
  for (const std::string &contents :
       {text, gzip(text.substr(0, 1000)) + gzip(text.substr(1000)), zstd(text)}) {
    auto reader = TextReader::open(folder.write("a", contents));
    ASSERT_TRUE((*reader)->skip(123'456).ok());
    std::string next(10, '\0');
    ASSERT_EQ(*(*reader)->read(next), 10u);
    EXPECT_EQ(next, text.substr(123'456, 10));
  }
}

TEST(TextReader, SkippingBeyondTheEndIsAnError) {
  TestFolder folder;
  for (const std::string &contents : {std::string("short"), gzip("short"), zstd("short")}) {
    auto reader = TextReader::open(folder.write("a", contents));
    EXPECT_EQ(folder.relative((*reader)->skip(6).message()),
              "a: ends before byte 6 of its text, where reading is to go on");
  }
}

} // namespace
} // namespace weft
