//===- TextReaderTest.cpp - Plain, gzip and Zstandard files, and lines ----===//
#include "runtime/data/TextReader.h"

#include "TestFolder.h"

#include <gtest/gtest.h>

#include <vector>
#include <zlib.h>
#include <zstd.h>

namespace weft {
namespace {

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

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

std::vector<std::string> lines(const std::string &path) {
  LineReader reader(std::move(*TextReader::open(path)), path);
  std::vector<std::string> result;
  std::string_view line;
  while (*reader.next(line)) {
    result.emplace_back(line);
    EXPECT_EQ(reader.lineNumber(), static_cast<int64_t>(result.size()));
  }
  return result;
}

TEST(LineReader, GivesLinesWithoutTheirEnds) {
  TestFolder folder;
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines(folder.write("a", "one\ntwo\r\n\nlast")), (Lines{"one", "two", "", "last"}));
  EXPECT_EQ(lines(folder.write("b", "one\n")), (Lines{"one"}));
  EXPECT_EQ(lines(folder.write("c", "")), (Lines{}));
}

TEST(LineReader, LinesMayBeLongerThanTheBuffer) {
  TestFolder folder;
  std::string big(3'000'000, 'x');
  EXPECT_EQ(lines(folder.write("a", "s\n" + big + "\n" + big)), (std::vector<std::string>{"s", big, big}));
}

TEST(LineReader, EndlessLinesAreRefused) {
  TestFolder folder;
  std::string path = folder.write("a", "short\n" + std::string(3'000'000, 'x'));
  LineReader reader(std::move(*TextReader::open(path)), path, 1000);
  std::string_view line;
  EXPECT_TRUE(*reader.next(line));
  EXPECT_EQ(folder.relative(reader.next(line).status().message()), "a:2: the line is longer than 1000 bytes");
}

} // namespace
} // namespace weft
