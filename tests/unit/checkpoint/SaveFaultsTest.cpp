//===- SaveFaultsTest.cpp - A save stopped at each of its operations ------===//
//
// One save (with a deletion, and one that replaces a folder) is run again and again: killed with SIGKILL
// before or in the middle of its N-th operation, failing there, or losing power there, so that only what was
// synced is left. Each time the latest checkpoint must be whole: the old one or the new one; and the next
// save must succeed.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "gmock/gmock.h"

#include <csignal>
#include <map>
#include <set>

#include <sys/wait.h>
#include <unistd.h>

namespace weft::checkpoint {
namespace {
using ::testing::AnyOf;
namespace fs = std::filesystem;

/// A run with checkpoints 1 and 2, saving step `target` with keep_latest 2: 3 deletes step 1, 2 replaces a
/// folder.
class Scene {
public:
  explicit Scene(int64_t target) : target(target) {
    for (int64_t step : {1, 2}) {
      const Program program(step);
      EXPECT_TRUE(saveCheckpoint(checkpoints(), program.state, program.views()).ok());
    }
  }
  std::string checkpoints() const { return folder / "checkpoints"; }
  const std::string &run() const { return folder.path(); }
  absl::Status save(FileSystem &files) const {
    const Program program(target);
    return saveCheckpoint(checkpoints(), program.state, program.views(), {2, &files});
  }
  /// The operations of an undisturbed save.
  std::vector<std::string> operations() const {
    std::vector<std::string> names;
    FaultySystem files;
    files.fault = [&](const FaultySystem::Operation &operation) {
      names.push_back(operation.name);
      return 0;
    };
    EXPECT_TRUE(save(files).ok());
    return names;
  }
  /// What holds after any interruption, and that the run goes on.
  void expectSound(const std::string &where) const {
    SCOPED_TRACE(where);
    EXPECT_THAT(latestWholeStep(checkpoints()), AnyOf(2, target));
    EXPECT_TRUE(cleanLeftovers(checkpoints()).ok());
    EXPECT_THAT(latestWholeStep(checkpoints()), AnyOf(2, target));
    EXPECT_TRUE(save(systemFiles()).ok());
    EXPECT_EQ(latestWholeStep(checkpoints()), target);
    EXPECT_EQ(listFolder(systemFiles(), checkpoints())->size(), 2u);
  }

private:
  TestFolder folder;
  int64_t target;
};

class StoppedSave : public ::testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Steps, StoppedSave, ::testing::Values(3, 2), [](const auto &info) {
  return info.param == 3 ? "OfANewStep" : "OfAStepThatIsThere";
});

TEST_P(StoppedSave, ConsistsOfTheseOperations) {
  const std::vector<std::string> names = Scene(GetParam()).operations();
  const auto count = [&](const char *name) { return std::count(names.begin(), names.end(), name); };
  EXPECT_EQ(count("create"), 2); // tensors, manifest
  EXPECT_EQ(count("write"), 2);
  EXPECT_EQ(count("mkdir"), 1);
  if (GetParam() == 3) {
    EXPECT_EQ(count("fsync"), 5); // two files, their folder, the folder above after each rename
    EXPECT_EQ(count("rename"), 2);
    EXPECT_EQ(count("unlink"), 2); // step 1
  } else {
    EXPECT_EQ(count("fsync"), 4);
    EXPECT_EQ(count("exchange"), 1);
    EXPECT_EQ(count("unlink"), 2); // the older step 2
  }
}

/// Runs the save in a child that kills itself at operation `at`; with `half`, a write puts half its bytes
/// first.
void killAt(const Scene &scene, int64_t at, bool half) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    FaultySystem files;
    files.fault = [&](const FaultySystem::Operation &operation) {
      if (operation.number != at)
        return 0;
      if (half && operation.name == "write" &&
          ::write(operation.descriptor, operation.data, operation.size / 2) < 0)
        ::_exit(3);
      ::kill(::getpid(), SIGKILL);
      return 0;
    };
    ::_exit(scene.save(files).ok() ? 1 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "operation " << at << " was not reached";
}

TEST_P(StoppedSave, KilledAtAnyOperationLeavesAWholeCheckpoint) {
  const std::vector<std::string> operations = Scene(GetParam()).operations();
  for (size_t at = 0; at < operations.size(); ++at)
    for (bool half : {false, true}) {
      if (half && operations[at] != "write")
        continue;
      const Scene scene(GetParam());
      killAt(scene, static_cast<int64_t>(at), half);
      scene.expectSound("killed at operation " + std::to_string(at) + ", " + operations[at]);
    }
}

TEST_P(StoppedSave, KilledWhileCleaningUpLeavesAWholeCheckpoint) {
  const auto interruptedScene = [&] {
    auto scene = std::make_unique<Scene>(GetParam());
    const std::vector<std::string> operations = Scene(GetParam()).operations();
    const auto lastWrite = std::find(operations.rbegin(), operations.rend(), "write");
    killAt(*scene, operations.rend() - lastWrite - 1, /*half=*/true);
    return scene;
  };
  for (int64_t at = 0;; ++at) {
    const auto scene = interruptedScene();
    FaultySystem files;
    files.fault = [&](const FaultySystem::Operation &operation) { return operation.number >= at ? -EIO : 0; };
    const bool done = cleanLeftovers(scene->checkpoints(), files).ok();
    scene->expectSound("cleaning stopped at operation " + std::to_string(at));
    if (done)
      return;
    ASSERT_LT(at, 100);
  }
}

TEST_P(StoppedSave, FailingAtAnyOperationLeavesAWholeCheckpoint) {
  const size_t count = Scene(GetParam()).operations().size();
  for (int error : {EIO, ENOSPC, EACCES})
    for (size_t at = 0; at < count; ++at) {
      const Scene scene(GetParam());
      FaultySystem files;
      files.fault = [&](const FaultySystem::Operation &operation) {
        return operation.number == static_cast<int64_t>(at) ? -error : 0;
      };
      const absl::Status status = scene.save(files);
      EXPECT_FALSE(status.ok()) << "operation " << at << " failed and nobody noticed";
      EXPECT_NE(std::string(status.message()).find(scene.checkpoints()), std::string::npos) << status;
      scene.expectSound("failed at operation " + std::to_string(at));
    }
}

/// Knows what a disk would hold if power were lost: for each file the bytes of its last fsync, for each
/// folder the names of its last fsync. Each inode is held open, so that its number is not given to another.
class PowerLossSystem : public FaultySystem {
public:
  explicit PowerLossSystem(const std::string &root) : root(root) { remember(root); }
  ~PowerLossSystem() override {
    for (int descriptor : held)
      ::close(descriptor);
  }

  int fsync(int descriptor) override {
    const int result = FaultySystem::fsync(descriptor);
    if (result == 0)
      remember(fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor)), /*deep=*/false);
    return result;
  }
  int open(const std::string &path, int flags, mode_t mode) override {
    const int descriptor = FaultySystem::open(path, flags, mode);
    if (descriptor >= 0)
      held.push_back(::dup(descriptor));
    return descriptor;
  }
  int mkdir(const std::string &path, mode_t mode) override {
    const int result = FaultySystem::mkdir(path, mode);
    if (result == 0)
      held.push_back(::open(path.c_str(), O_RDONLY | O_DIRECTORY));
    return result;
  }

  /// Builds in `to` what is on the disk. With `allNames`, the file system had written every change of names
  /// by itself (they may reach the disk early, never later than their fsync); bytes without fsync are lost
  /// all the same.
  void restore(const std::string &to, bool allNames) const { restore(inode(root), root, to, allNames); }

private:
  static ino_t inode(const std::string &path) {
    struct stat about = {};
    ::lstat(path.c_str(), &about);
    return about.st_ino;
  }
  static std::map<std::string, ino_t> namesIn(const std::string &folder) {
    std::map<std::string, ino_t> names;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder))
      names[entry.path().filename()] = inode(entry.path());
    return names;
  }
  void remember(const std::string &path, bool deep = true) {
    held.push_back(::open(path.c_str(), O_RDONLY));
    if (!fs::is_directory(path)) {
      bytes[inode(path)] = readText(path);
      return;
    }
    folders[inode(path)] = namesIn(path);
    if (deep)
      for (const fs::directory_entry &entry : fs::directory_iterator(path))
        remember(entry.path());
  }
  void restore(ino_t node, const std::string &now, const std::string &to, bool allNames) const {
    const bool isFolder = folders.count(node) || (allNames && fs::is_directory(now));
    if (!isFolder) {
      writeText(to, bytes.count(node) ? bytes.at(node) : "");
      return;
    }
    fs::create_directory(to);
    const auto durable = folders.find(node);
    const auto names = allNames                   ? namesIn(now)
                       : durable == folders.end() ? std::map<std::string, ino_t>{}
                                                  : durable->second;
    for (const auto &[name, child] : names)
      restore(child, now + "/" + name, to + "/" + name, allNames);
  }

  std::string root;
  std::vector<int> held;
  std::map<ino_t, std::string> bytes;
  std::map<ino_t, std::map<std::string, ino_t>> folders;
};

/// Saves until operation `at`, from which on nothing happens any more; returns the latest whole step on the
/// disk.
int64_t losePowerAt(int64_t target, int64_t at, bool allNames, bool skipFsyncOfFiles, bool &finished) {
  const Scene scene(target);
  PowerLossSystem files(scene.run());
  files.fault = [&](const FaultySystem::Operation &operation) {
    if (operation.number >= at)
      return -EIO;
    struct stat about = {};
    const bool isFile =
        operation.name == "fsync" && ::fstat(operation.descriptor, &about) == 0 && S_ISREG(about.st_mode);
    return skipFsyncOfFiles && isFile ? 1 : 0; // 1: claims success without doing it.
  };
  finished = scene.save(files).ok();
  TestFolder disk;
  files.restore(disk / "run", allNames);
  return latestWholeStep(disk / "run/checkpoints");
}

TEST_P(StoppedSave, LosingPowerAtAnyOperationLeavesAWholeCheckpoint) {
  const int64_t count = static_cast<int64_t>(Scene(GetParam()).operations().size());
  for (bool allNames : {false, true})
    for (int64_t at = 0; at <= count; ++at) {
      SCOPED_TRACE("power lost at operation " + std::to_string(at));
      bool finished = false;
      const int64_t step = losePowerAt(GetParam(), at, allNames, /*skipFsyncOfFiles=*/false, finished);
      EXPECT_THAT(step, AnyOf(2, GetParam()));
      EXPECT_EQ(finished, at == count);
      if (finished) {
        EXPECT_EQ(step, GetParam());
      }
    }
}

TEST(StoppedSaveTest, SeesASkippedFsync) {
  bool finished = false;
  EXPECT_EQ(losePowerAt(3, 1000, /*allNames=*/true, /*skipFsyncOfFiles=*/true, finished), 2);
  EXPECT_TRUE(finished);
}

TEST(FullDisk, IsToldBeforeAnythingIsWritten) {
  struct Full : FileSystem {
    int64_t freeBytes(const std::string &) override { return 1000; }
  } files;
  TestFolder folder;
  const Program program(1, 3000);
  EXPECT_EQ(std::string(saveCheckpoint(folder.path(), program.state, program.views(), {0, &files}).message()),
            folder /
                "step-1.tmp: the disk is full: 36,008 bytes needed, 1,000 free. Free some space, or lower "
                "checkpoint.keep_latest.");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(FullDisk, IsToldByTheWriteThatNoLongerFits) {
  struct Full : FaultySystem {
    int64_t freeBytes(const std::string &) override { return 70'000; }
  } files;
  TestFolder folder;
  const Program program(1, 3000);
  files.fault = [](const FaultySystem::Operation &operation) {
    return operation.name == "write" ? -ENOSPC : 0;
  };
  EXPECT_EQ(std::string(saveCheckpoint(folder.path(), program.state, program.views(), {0, &files}).message()),
            folder /
                "step-1.tmp/rank-00000.safetensors: the disk is full: 36,224 bytes needed, 70,000 free. Free "
                "some space, or lower checkpoint.keep_latest.");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(UnwritableFolder, IsNamedWithTheCause) {
  TestFolder folder;
  const Program program(1);
  const auto messageOf = [&](const char *name, int error) {
    FaultySystem files;
    files.fault = [&](const FaultySystem::Operation &operation) {
      return operation.name == name ? -error : 0;
    };
    return std::string(saveCheckpoint(folder.path(), program.state, program.views(), {0, &files}).message());
  };
  const std::string temporary = folder / "step-1.tmp", tensors = temporary + "/rank-00000.safetensors";
  EXPECT_EQ(messageOf("mkdir", EACCES), temporary +
                                            ": cannot create the folder: Permission denied. Give this user "
                                            "the permission, or choose another folder.");
  EXPECT_EQ(messageOf("create", EROFS),
            tensors + ": cannot create the file: Read-only file system. The file system "
                      "is mounted read-only: choose another folder.");
  EXPECT_EQ(messageOf("write", EIO), tensors +
                                         ": cannot write: Input/output error. The disk reports a fault: see "
                                         "the kernel's log, and use another disk.");
  EXPECT_EQ(messageOf("fsync", EIO), tensors +
                                         ": cannot write to the disk: Input/output error. The disk reports a "
                                         "fault: see the kernel's log, and use another disk.");
  EXPECT_EQ(messageOf("rename", EBUSY),
            temporary + ": cannot rename to " + folder.path() +
                "/step-1: Device or resource busy. Nothing that was saved before is "
                "touched.");
}

TEST(FailedDeletion, SaysThatTheNewCheckpointWasSaved) {
  const Scene scene(3);
  FaultySystem files;
  files.fault = [](const FaultySystem::Operation &operation) {
    return operation.name == "unlink" ? -EACCES : 0;
  };
  EXPECT_EQ(std::string(scene.save(files).message()),
            scene.checkpoints() +
                "/step-3 was saved, but an older checkpoint could not be removed: " + scene.checkpoints() +
                "/step-1.trash/manifest.json: cannot remove: Permission denied. Give this "
                "user the permission, or choose another folder.");
  EXPECT_EQ(latestWholeStep(scene.checkpoints()), 3);
}

} // namespace
} // namespace weft::checkpoint
