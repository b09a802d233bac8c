//===- AtomicFileTest.cpp - A file that appears whole or not at all -------===//
#include "runtime/data/AtomicFile.h"
#include "runtime/data/FileError.h"

#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <sys/resource.h>

namespace weft {
namespace {

TEST(AtomicFile, AppearsWithCommitAndNotBefore) {
  TestFolder folder;
  auto file = AtomicFile::create(folder.path("a"));
  ASSERT_TRUE(file.ok());
  std::string contents(9 << 20, 'x');
  ASSERT_TRUE(file->append(contents.data(), contents.size()).ok());
  EXPECT_FALSE(folder.has("a"));
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(folder.read("a"), contents);
  EXPECT_FALSE(folder.has("a.tmp"));
  EXPECT_EQ(file->size(), int64_t{9} << 20);
}

TEST(AtomicFile, LeavesNothingWhenItIsDropped) {
  TestFolder folder;
  folder.write("a", "old");
  {
    auto file = AtomicFile::create(folder.path("a"));
    ASSERT_TRUE(file->append("new", 3).ok());
  }
  EXPECT_EQ(folder.read("a"), "old");
  EXPECT_FALSE(folder.has("a.tmp"));
}

TEST(AtomicFile, OverwritesWhatACrashLeft) {
  TestFolder folder;
  folder.write("a.tmp", "half of a much longer file");
  auto file = AtomicFile::create(folder.path("a"));
  ASSERT_TRUE(file->append("new", 3).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(folder.read("a"), "new");
}

TEST(AtomicFile, GoesOnInAFileThatWasKept) {
  TestFolder folder;
  {
    auto file = AtomicFile::create(folder.path("a"));
    ASSERT_TRUE(file->append("whole part, half", 16).ok());
    ASSERT_TRUE(file->flush().ok());
    file->keep();
  }
  auto file = AtomicFile::resume(folder.path("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), 16);
  std::string part(5, '\0');
  ASSERT_TRUE(file->read(6, std::as_writable_bytes(std::span(part))).ok());
  EXPECT_EQ(part, "part,");
  EXPECT_FALSE(file->read(12, std::as_writable_bytes(std::span(part))).ok());
  ASSERT_TRUE(file->truncate(11).ok());
  ASSERT_TRUE(file->append(" and more", 9).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(folder.read("a"), "whole part, and more");
}

TEST(AtomicFile, ASecondWriterIsRefused) {
  TestFolder folder;
  auto file = AtomicFile::create(folder.path("a"));
  auto second = AtomicFile::create(folder.path("a"));
  EXPECT_EQ(folder.relative(second.status().message()),
            "a.tmp: another process is writing it. Wait until it is done.");
}

TEST(AtomicFile, AMissingFolderIsNamed) {
  TestFolder folder;
  EXPECT_EQ(folder.relative(AtomicFile::create(folder.path("no/a")).status().message()),
            "no: the folder to write into does not exist");
}

TEST(AtomicFile, AWriteThatTheSystemRefusesIsToldAndLeavesNothing) {
  TestFolder folder;
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = {100, before.rlim_max};
  auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  absl::Status status;
  {
    auto file = AtomicFile::create(folder.path("a"));
    std::string contents(200, 'x');
    status = file->append(contents.data(), contents.size());
    if (status.ok())
      status = file->commit();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, oldHandler);
  EXPECT_EQ(folder.relative(status.message()), "a.tmp: cannot write: File too large");
  EXPECT_FALSE(folder.has("a"));
  EXPECT_FALSE(folder.has("a.tmp"));
}

TEST(FileError, SaysTheCureOfWhatAPersonCanCure) {
  EXPECT_EQ(fileError("a.bin", "write", ENOSPC).message(),
            "a.bin: cannot write: No space left on device. Free space there, or write elsewhere.");
  EXPECT_EQ(fileError("a.bin", "open", EACCES).message(),
            "a.bin: cannot open: Permission denied. Check the permissions of the file and its folder.");
  EXPECT_EQ(fileError("a.bin", "open", ENOENT).message(), "a.bin: no such file");
  EXPECT_EQ(fileError("a.bin", "read", EIO).message(), "a.bin: cannot read: Input/output error");
}

} // namespace
} // namespace weft
