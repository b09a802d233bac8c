//===- SnapshotSaverTest.cpp - Saving while the training goes on ----------===//
//
// The caller goes on while the save works, one save is in flight at most, and a failure is told once, at the
// next call.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "runtime/checkpoint/SnapshotSaver.h"

#include <atomic>
#include <future>

namespace weft::checkpoint {
namespace {

TEST(SnapshotSaver, SavesBehindTheCaller) {
  TestFolder folder;
  std::promise<void> mayWrite;
  FaultySystem files;
  files.fault = [&, gate = mayWrite.get_future().share()](const FaultySystem::Operation &) {
    gate.wait();
    return 0;
  };
  const Program program(1);
  SnapshotSaver saver({0, &files});
  ASSERT_TRUE(saver.save(folder.path(), program.state, program.views()).ok());
  EXPECT_EQ(latestWholeStep(folder.path()),
            -1); // It was called, and waits: we are here before it has written.
  mayWrite.set_value();
  EXPECT_TRUE(saver.wait().ok());
  EXPECT_EQ(latestWholeStep(folder.path()), 1);
}

TEST(SnapshotSaver, HasOneSaveInFlight) {
  TestFolder folder;
  std::atomic<int> temporaries = 0;
  FaultySystem files;
  files.fault = [&](const FaultySystem::Operation &operation) {
    temporaries += operation.name == "mkdir";
    temporaries -= operation.name == "rename";
    EXPECT_LE(temporaries, 1);
    return 0;
  };
  std::vector<Program> programs;
  for (int64_t step = 1; step <= 5; ++step)
    programs.emplace_back(step);
  SnapshotSaver saver({0, &files});
  for (const Program &program : programs)
    ASSERT_TRUE(saver.save(folder.path(), program.state, program.views()).ok());
  EXPECT_TRUE(saver.wait().ok());
  EXPECT_EQ(latestWholeStep(folder.path()), 5);
}

TEST(SnapshotSaver, TellsAFailureOnceAtTheNextCall) {
  TestFolder folder;
  FaultySystem files;
  bool broken = true;
  files.fault = [&](const FaultySystem::Operation &operation) {
    return broken && operation.name == "fsync" ? -EIO : 0;
  };
  const Program first(1), second(2);
  SnapshotSaver saver({0, &files});
  ASSERT_TRUE(saver.save(folder.path(), first.state, first.views()).ok());
  EXPECT_EQ(std::string(saver.save(folder.path(), second.state, second.views()).message()),
            folder /
                "step-1.tmp/rank-00000.safetensors: cannot write to the disk: Input/output error. The disk "
                "reports a fault: see the kernel's log, and use another disk.");
  broken = false;
  EXPECT_TRUE(saver.wait().ok());
  EXPECT_TRUE(saver.save(folder.path(), second.state, second.views()).ok());
  EXPECT_TRUE(saver.wait().ok());
  EXPECT_EQ(latestWholeStep(folder.path()), 2);
}

TEST(SnapshotSaver, FinishesTheSaveInFlightWhenItEnds) {
  TestFolder folder;
  const Program program(1);
  {
    SnapshotSaver saver({});
    ASSERT_TRUE(saver.save(folder.path(), program.state, program.views()).ok());
  }
  EXPECT_EQ(latestWholeStep(folder.path()), 1);
}

} // namespace
} // namespace weft::checkpoint
