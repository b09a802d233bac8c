//===- CheckpointFoldersTest.cpp - The folder that holds the checkpoints --===//
//
// The latest whole checkpoint is found whatever else lies there, leftovers are removed and nothing else, and
// only as many stay as were asked for.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "gmock/gmock.h"

namespace weft::checkpoint {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

void save(const std::string &folder, int64_t step, int64_t keep = 0) {
  const Program program(step);
  const absl::Status status = saveCheckpoint(folder, program.state, program.views(), {keep, &systemFiles()});
  ASSERT_TRUE(status.ok()) << status;
}

std::vector<std::string> names(const std::string &folder) { return *listFolder(systemFiles(), folder); }

TEST(FindLatest, GivesNothingBeforeTheFirstSave) {
  TestFolder folder;
  EXPECT_EQ(latestWholeStep(folder.path()), -1);
  EXPECT_EQ(latestWholeStep(folder / "absent"), -1);
}

TEST(FindLatest, GoesByNumberNotByName) {
  TestFolder folder;
  save(folder.path(), 900);
  save(folder.path(), 1000);
  EXPECT_EQ(latestWholeStep(folder.path()), 1000);
}

TEST(FindLatest, PassesOverBrokenOnesAndSaysWhy) {
  TestFolder folder;
  for (int64_t step : {1, 2, 3, 4})
    save(folder.path(), step);
  std::filesystem::remove(folder / "step-4/manifest.json");
  std::filesystem::resize_file(folder / "step-3/rank-00000.safetensors", 10);
  std::filesystem::rename(folder / "step-2", folder / "step-7");
  writeText(folder / "step-8", "a file");
  absl::StatusOr<LatestCheckpoint> latest = findLatest(folder.path());
  ASSERT_TRUE(latest.ok());
  EXPECT_EQ(latest->checkpoint->state().step, 1);
  EXPECT_THAT(
      latest->broken,
      ElementsAre(folder / "step-8: no such checkpoint. Check the path.",
                  folder / "step-7: broken checkpoint: its manifest is of step 2. Rename the folder.",
                  folder / "step-4: broken checkpoint: it has no manifest.json. Use another checkpoint.",
                  folder / "step-3/rank-00000.safetensors: broken checkpoint: the file has 10 bytes, 280 "
                           "were saved. Use another checkpoint."));
}

TEST(FindLatest, IgnoresTemporariesTrashAndOtherNames) {
  TestFolder folder;
  save(folder.path(), 1);
  for (const char *name : {"step-9.tmp", "step-9.trash", "step-09", "step-", "step--3", "best", "step-3x"})
    std::filesystem::copy(folder / "step-1", folder / name);
  absl::StatusOr<LatestCheckpoint> latest = findLatest(folder.path());
  EXPECT_EQ(latest->checkpoint->state().step, 1);
  EXPECT_THAT(latest->broken, IsEmpty());
}

TEST(FindLatest, DoesNotStartOverWhenTheLatestIsOfANewerFormat) {
  TestFolder folder;
  save(folder.path(), 1);
  save(folder.path(), 2);
  const std::string manifest = folder / "step-2/manifest.json";
  writeText(manifest, replaced(readText(manifest), "\"version\": 2", "\"version\": 3"));
  EXPECT_EQ(
      findLatest(folder.path()).status().message(),
      manifest +
          ": checkpoint format version 3, this weft reads versions 1 to 2. Use the weft that wrote it, or a "
          "newer one.");
}

TEST(CleanLeftovers, RemovesWhatCrashesLeftAndNothingElse) {
  TestFolder folder;
  save(folder.path(), 1);
  for (const char *name : {"step-2.tmp", "step-3.trash", "best", "notes.tmp"})
    std::filesystem::copy(folder / "step-1", folder / name);
  std::filesystem::create_directory_symlink(folder / "best", folder / "step-2.tmp/link");
  absl::StatusOr<std::vector<std::string>> removed = cleanLeftovers(folder.path());
  EXPECT_THAT(*removed, ElementsAre(folder / "step-2.tmp", folder / "step-3.trash"));
  EXPECT_THAT(names(folder.path()), ElementsAre("best", "notes.tmp", "step-1"));
  EXPECT_THAT(names(folder / "best"), ElementsAre("manifest.json", "rank-00000.safetensors"));
}

TEST(KeepLatest, DeletesTheOldestAfterEachSave) {
  TestFolder folder;
  for (int64_t step : {8, 9, 10, 11})
    save(folder.path(), step, 2);
  EXPECT_THAT(names(folder.path()), ElementsAre("step-10", "step-11"));
}

TEST(KeepLatest, OfOneKeepsTheNewOne) {
  TestFolder folder;
  save(folder.path(), 1, 1);
  save(folder.path(), 2, 1);
  EXPECT_THAT(names(folder.path()), ElementsAre("step-2"));
}

TEST(KeepLatest, CountsWholeOnesOnly) {
  TestFolder folder;
  for (int64_t step : {1, 2, 3})
    save(folder.path(), step);
  std::filesystem::remove(folder / "step-3/manifest.json");
  save(folder.path(), 4, 2);
  EXPECT_THAT(names(folder.path()), ElementsAre("step-2", "step-3", "step-4"));
}

TEST(KeepLatest, NeverDeletesTheOneJustSavedNorLaterOnes) {
  TestFolder folder;
  for (int64_t step : {5, 6, 7, 3})
    save(folder.path(), step, 2);
  EXPECT_THAT(names(folder.path()), ElementsAre("step-3", "step-6", "step-7"));
}

TEST(SavingAgain, ReplacesACheckpointOfTheSameStep) {
  TestFolder folder;
  save(folder.path(), 1);
  writeText(folder / "step-1/manifest.json", "");
  save(folder.path(), 1);
  EXPECT_EQ(latestWholeStep(folder.path()), 1);
  EXPECT_THAT(names(folder.path()), ElementsAre("step-1"));
}

TEST(SavingAgain, IsRefusedWhereAFolderCannotBeReplacedInOneStep) {
  struct NoExchange : FileSystem {
    int exchange(const std::string &, const std::string &) override { return -EINVAL; }
  } files;
  TestFolder folder;
  save(folder.path(), 1);
  const Program program(1);
  EXPECT_EQ(
      saveCheckpoint(folder.path(), program.state, program.views(), {0, &files}).message(),
      folder / "step-1: exists, and this file system cannot replace a folder in one step. Move it away, then "
               "go on.");
  EXPECT_EQ(latestWholeStep(folder.path()), 1);
}

} // namespace
} // namespace weft::checkpoint
