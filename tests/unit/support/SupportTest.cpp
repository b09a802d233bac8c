//===- SupportTest.cpp - Sizes, suggestions, small files ------------------===//
#include "tests/unit/TestFolder.h"

#include "runtime/support/ByteUnits.h"
#include "runtime/support/FileText.h"
#include "runtime/support/Nearest.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>
#include <vector>

namespace weft {

TEST(ByteUnits, ReadsWhatPeopleWrite) {
  EXPECT_EQ(bytesFromText("8 GiB"), int64_t{8} << 30);
  EXPECT_EQ(bytesFromText("8GiB"), int64_t{8} << 30);
  EXPECT_EQ(bytesFromText("1.5 KiB"), 1536);
  EXPECT_EQ(bytesFromText("2 GB"), 2000000000);
  EXPECT_EQ(bytesFromText("4096"), 4096);
  EXPECT_EQ(bytesFromText("0 B"), 0);
}

TEST(ByteUnits, RefusesWhatIsNotASize) {
  for (const char *text : {"", "GiB", "8 Gib", "-1 GiB", "1.5", "1..5 GiB", "8 GiB ", "9223372036854775808",
                           "9000000 TiB", "1e9", "."})
    EXPECT_EQ(bytesFromText(text), std::nullopt) << text;
}

TEST(ByteUnits, WritesTheSameNumberBack) {
  EXPECT_EQ(textFromBytes(int64_t{8} << 30), "8 GiB");
  EXPECT_EQ(textFromBytes(int64_t{3} << 29), "1536 MiB");
  EXPECT_EQ(textFromBytes(1000), "1000 B");
  EXPECT_EQ(textFromBytes(0), "0 B");
  for (int64_t bytes :
       {int64_t{0}, int64_t{1}, int64_t{1023}, int64_t{1} << 20, (int64_t{1} << 40) + 1, INT64_MAX})
    EXPECT_EQ(bytesFromText(textFromBytes(bytes)), bytes);
}

TEST(Nearest, CountsEditsAndSwaps) {
  EXPECT_EQ(editDistance("weight_decay", "weight_decay"), 0u);
  EXPECT_EQ(editDistance("weigth_decay", "weight_decay"), 1u);
  EXPECT_EQ(editDistance("lr", "l"), 1u);
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
}

TEST(Nearest, SuggestsOnlyWhatIsNear) {
  EXPECT_EQ(nearestWord("stps", {"seed", "steps"}), "steps");
  EXPECT_EQ(nearestWord("learning_rate", {"lr", "betas"}), std::nullopt);
  EXPECT_EQ(nearestWord("ab", {"xy"}), std::nullopt);
  EXPECT_EQ(nearestWord(std::string(100000, 'a'), {"a"}), std::nullopt);
}

class FileTextTest : public testing::Test {
protected:
  TestFolder folder;
};

TEST_F(FileTextTest, ReadsBackWhatWasWritten) {
  std::string path = folder / "a";
  ASSERT_TRUE(writeFileAtomically(path, "old").ok());
  ASSERT_TRUE(writeFileAtomically(path, std::string(200000, 'x')).ok());
  absl::StatusOr<std::string> text = readFileText(path, 1 << 20);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, std::string(200000, 'x'));
  EXPECT_EQ(folder.entries(), 1) << "no temporary file is left";
}

TEST_F(FileTextTest, WhatAKilledWriterLeftIsWrittenOver) {
  std::string path = folder / "a";
  std::ofstream(path + ".tmp") << std::string(1000, 'k');
  ASSERT_TRUE(writeFileAtomically(path, "whole").ok());
  EXPECT_EQ(readFileText(path, 100).value(), "whole");
  EXPECT_EQ(folder.entries(), 1) << "no temporary file is left";
}

TEST_F(FileTextTest, WritersOfOneFileTakeTurns) {
  std::string path = folder / "a";
  std::vector<std::thread> writers;
  for (char letter : {'a', 'b', 'c', 'd'})
    writers.emplace_back([&, letter] {
      for (int turn = 0; turn < 20; ++turn)
        EXPECT_TRUE(writeFileAtomically(path, std::string(1 << 16, letter)).ok());
    });
  for (std::thread &writer : writers)
    writer.join();
  std::string text = readFileText(path, 1 << 20).value();
  EXPECT_EQ(text, std::string(1 << 16, text.front())) << "the content of one writer, whole";
  EXPECT_EQ(folder.entries(), 1) << "no temporary file is left";
}

TEST_F(FileTextTest, FailedWriteLeavesTheOldFile) {
  std::string path = folder / "sub";
  std::filesystem::create_directories(path + "/full");
  absl::Status status = writeFileAtomically(path, "new");
  EXPECT_EQ(status.message(), path + ": cannot be replaced: Is a directory");
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(FileTextTest, MissingFileIsNamed) {
  absl::Status status = readFileText(folder / "none", 10).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), folder.path() + "/none: cannot be opened: No such file or directory");
}

TEST_F(FileTextTest, FolderAndLargeFileAreRefused) {
  EXPECT_EQ(readFileText(folder.path(), 10).status().message(), folder.path() + ": is not a regular file");
  folder.write("large", "12345");
  EXPECT_EQ(readFileText(folder / "large", 4).status().message(),
            folder.path() + "/large: has 5 bytes, at most 4 are read");
}

} // namespace weft
