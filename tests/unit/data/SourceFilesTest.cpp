//===- SourceFilesTest.cpp - The files that a path names as a corpus ------===//
#include "runtime/data/SourceFiles.h"

#include "tests/unit/TestFolder.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(SourceFiles, AFolderIsItsTextFilesInTheOrderOfTheirPaths) {
  TestFolder folder;
  for (const char *name : {"b.txt", "a/z.rst.txt.gz", "a/a.md", "a.jsonl", "c.py", ".hidden.txt",
                           ".git/x.txt", "d.zst", "e.ndjson.zst", "f.tex"})
    folder.write(name, "x");
  auto files = findSourceFiles(folder.root.string());
  ASSERT_TRUE(files.ok()) << files.status();
  std::vector<std::string> names;
  for (const SourceFile &file : *files) {
    names.push_back(folder.relative(file.path));
    EXPECT_EQ(file.format == SourceFormat::Jsonl, file.path.find("json") != std::string::npos);
    EXPECT_EQ(file.bytes, 1);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a.jsonl", "a/a.md", "a/z.rst.txt.gz", "b.txt", "e.ndjson.zst",
                                             "f.tex"}));
}

TEST(SourceFiles, AFileIsTakenWhateverItsName) {
  TestFolder folder;
  auto files = findSourceFiles(folder.write("corpus.dat", "x"));
  ASSERT_EQ(files->size(), 1u);
  EXPECT_EQ(files->front().format, SourceFormat::Text);
}

TEST(SourceFiles, LinksToFilesAreFollowedAndDeadOnesIgnored) {
  TestFolder folder;
  folder.write("data/a", "text");
  std::filesystem::create_directory(folder.path("in"));
  std::filesystem::create_symlink(folder.path("data/a"), folder.path("in/link.txt"));
  std::filesystem::create_symlink(folder.path("gone"), folder.path("in/dead.txt"));
  auto files = findSourceFiles(folder.path("in"));
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_EQ(files->size(), 1u);
  EXPECT_EQ(files->front().bytes, 4);
}

TEST(SourceFiles, ErrorsNameThePath) {
  TestFolder folder;
  EXPECT_EQ(folder.relative(findSourceFiles(folder.path("no.txt")).status().message()),
            "no.txt: no such file");
  folder.write("sub/a.py", "x");
  EXPECT_EQ(folder.relative(findSourceFiles(folder.path("sub")).status().message()),
            "sub: the folder holds no text. Taken are files that end in .txt .text .md .markdown .rst .tex "
            ".adoc .jsonl "
            ".ndjson, each also with .gz or .zst.");
  EXPECT_EQ(findSourceFiles("/dev/null").status().message(), "/dev/null: is neither a file nor a folder");
}

} // namespace
} // namespace weft
