//===- CheckpointSaverTest.cpp - Saves while training goes on -------------===//
//
// A disk that stands still until it is told to go on, so that tests decide what happens while a save is at
// work: values change, steps go by, ranks fail. What is on the disk afterwards is the state of one step, or
// nothing. That a save may be stopped at any operation, ShardsTest.cpp shows.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/CheckpointSaver.h"
#include "runtime/support/ExitCode.h"
#include "tests/unit/checkpoint/TestSupport.h"
#include "tests/unit/comm/RankHarness.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>

namespace weft {
namespace {

using checkpoint::Program;
using ::testing::HasSubstr;

/// Writes wait until the disk goes on.
class SlowDisk : public checkpoint::FileSystem {
public:
  int64_t write(int descriptor, const void *data, size_t size) override {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return isOn; });
    return FileSystem::write(descriptor, data, size);
  }
  void goOn() {
    std::lock_guard lock(mutex);
    isOn = true;
    changed.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool isOn = false;
};

CheckpointSaver::Options optionsFor(const TestFolder &folder, checkpoint::FileSystem &files) {
  CheckpointSaver::Options options;
  options.checkpoints = folder.path();
  options.save.files = &files;
  return options;
}

/// Each rank's part of the weight, and on rank 0 the other tensors of a test program.
std::vector<checkpoint::TensorView> ownedBy(int rank, int64_t ranks, const Program &program) {
  const auto width = static_cast<int64_t>(program.weight.size()) / ranks;
  std::vector<checkpoint::TensorView> owned = {
      {"weight",
       {DType::F32, {width / 3, 3}},
       program.weight.data() + rank * width,
       checkpoint::TensorPart{{ranks * width / 3, 3}, {rank * width / 3, 0}, "[d0] []"}}};
  if (rank == 0)
    owned.insert(owned.end(), {program.views()[1], program.views()[2]});
  return owned;
}

/// A step boundary: true once the save is over.
absl::StatusOr<bool> meet(Communicator &communicator, CheckpointSaver &saver, const bool &isOver) {
  int32_t busy = saver.isBusy() ? 1 : 0;
  if (absl::Status status =
          communicator.allReduce(std::as_writable_bytes(std::span(&busy, 1)), DType::I32, ReduceKind::Max);
      !status.ok())
    return status;
  if (busy == 0)
    if (absl::Status status = saver.advance(); !status.ok())
      return status;
  return isOver;
}

TEST(CheckpointSaver, StepsGoByWhileASaveIsAtWork) {
  constexpr int ranks = 3;
  TestFolder folder;
  SlowDisk disk;
  const Program program(7, 18);
  testing::onEachRank(ranks, [&](Communicator &communicator) {
    bool isOver = false;
    CheckpointSaver::Options options = optionsFor(folder, disk);
    options.saved = [&](const SaveReport &report) {
      isOver = true;
      EXPECT_EQ(report.step, 7);
      EXPECT_LT(report.waited, report.seconds);
    };
    CheckpointSaver saver(communicator, options);
    ASSERT_EQ(saver.begin(program.state, ownedBy(communicator.rank(), ranks, program)), absl::OkStatus());
    for (int step = 0; step < 5; ++step) {
      EXPECT_TRUE(saver.isBusy());
      EXPECT_FALSE(*meet(communicator, saver, isOver));
      EXPECT_FALSE(std::filesystem::exists(folder / "step-7"));
    }
    ASSERT_EQ(communicator.barrier(), absl::OkStatus());
    disk.goOn();
    absl::StatusOr<bool> over = false;
    while (over.ok() && !*over)
      over = meet(communicator, saver, isOver);
    EXPECT_EQ(over.status(), absl::OkStatus());
    EXPECT_EQ(checkpoint::latestWholeStep(folder.path()), 7);
  });
}

/// Variables change as soon as they may, and what is saved are their values from before.
TEST(CheckpointSaver, TheCopyIsMadeWhileTrainingGoesOnAndWaitsOnlyToWrite) {
  constexpr int ranks = 2;
  TestFolder folder;
  const Program program(3, 12);
  testing::onEachRank(ranks, [&](Communicator &communicator) {
    Program variables(3, 12), snapshot(9, 12);
    CheckpointSaver::Options options = optionsFor(folder, checkpoint::systemFiles());
    double waited = 0;
    options.saved = [&](const SaveReport &report) { waited = report.waited; };
    CheckpointSaver saver(communicator, options);
    std::promise<void> stepComputes;
    const auto copy = [&] {
      stepComputes.get_future().wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      snapshot.weight = variables.weight;
    };
    ASSERT_EQ(saver.begin(program.state, ownedBy(communicator.rank(), ranks, snapshot), copy),
              absl::OkStatus());
    EXPECT_NE(snapshot.weight, program.weight);
    stepComputes.set_value();
    saver.awaitCopy();
    EXPECT_EQ(snapshot.weight, program.weight);
    std::fill(variables.weight.begin(), variables.weight.end(), 0.0F);
    saver.awaitCopy(); // once more costs nothing
    ASSERT_EQ(saver.finish(), absl::OkStatus());
    EXPECT_GE(waited, 0.015);
  });
  absl::StatusOr<checkpoint::Checkpoint> saved = checkpoint::openCheckpoint(folder / "step-3");
  ASSERT_EQ(saved.status(), absl::OkStatus());
  EXPECT_EQ(checkpoint::readAs<float>(*saved, "weight", program.weight.size()), program.weight);
}

TEST(CheckpointSaver, AnotherSaveDoesNotBeginBeforeTheOneAtWorkIsOver) {
  TestFolder folder;
  SlowDisk disk;
  const Program first(1), second(2);
  testing::onEachRank(1, [&](Communicator &communicator) {
    CheckpointSaver saver(communicator, optionsFor(folder, disk));
    ASSERT_EQ(saver.begin(first.state, first.views()), absl::OkStatus());
    EXPECT_EQ(saver.begin(second.state, second.views()).message(),
              "checkpoint: a save of step 2 begins while that of step 1 is at work");
    disk.goOn();
    EXPECT_EQ(saver.finish(), absl::OkStatus());
    EXPECT_EQ(saver.begin(second.state, second.views()), absl::OkStatus());
    EXPECT_EQ(saver.finish(), absl::OkStatus());
    EXPECT_EQ(checkpoint::latestWholeStep(folder.path()), 2);
  });
}

TEST(CheckpointSaver, OneRankThatEndsFinishesItsSave) {
  TestFolder folder;
  const Program program(3);
  testing::onEachRank(1, [&](Communicator &communicator) {
    CheckpointSaver saver(communicator, optionsFor(folder, checkpoint::systemFiles()));
    ASSERT_EQ(saver.begin(program.state, program.views()), absl::OkStatus());
  });
  EXPECT_EQ(checkpoint::latestWholeStep(folder.path()), 3);
}

/// Nobody is asked whether all parts were written, so there must be no checkpoint; and the rank does not wait
/// for a disk that has much to write.
TEST(CheckpointSaver, OneOfSeveralRanksThatEndsGivesItUp) {
  struct SlowlyCounting : SlowDisk {
    int64_t write(int descriptor, const void *data, size_t size) override {
      ++writes;
      return SlowDisk::write(descriptor, data, size);
    }
    std::atomic<int> writes{0};
  } disk;
  TestFolder folder;
  constexpr size_t many = 12 << 20; // each rank writes dozens of stretches
  const Program program(4, many);
  testing::onEachRank(2, [&](Communicator &communicator) {
    std::optional<CheckpointSaver> saver;
    saver.emplace(communicator, optionsFor(folder, disk));
    ASSERT_EQ(saver->begin(program.state, ownedBy(communicator.rank(), 2, program)), absl::OkStatus());
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      disk.goOn();
    });
    saver.reset();
    later.join();
  });
  EXPECT_EQ(checkpoint::latestWholeStep(folder.path()), -1);
  EXPECT_LT(disk.writes, 20) << "they went on to write";
}

TEST(CheckpointSaver, AFullDiskStopsAllRanksAtTheNextBoundaryAndLosesNothing) {
  struct FullDisk : checkpoint::FileSystem {
    int64_t write(int, const void *, size_t) override { return -ENOSPC; }
  } full;
  constexpr int ranks = 2;
  TestFolder folder;
  const Program before(1, 6), program(2, 6);
  testing::onEachRank(ranks, [&](Communicator &communicator) {
    CheckpointSaver first(communicator, optionsFor(folder, checkpoint::systemFiles()));
    ASSERT_EQ(first.begin(before.state, ownedBy(communicator.rank(), ranks, before)), absl::OkStatus());
    ASSERT_EQ(first.finish(), absl::OkStatus());
    CheckpointSaver saver(communicator, optionsFor(folder, full));
    ASSERT_EQ(saver.begin(program.state, ownedBy(communicator.rank(), ranks, program)), absl::OkStatus());
    absl::StatusOr<bool> met = false;
    while (met.ok())
      met = meet(communicator, saver, false);
    EXPECT_EQ(exitCodeOf(met.status()), ExitCode::Checkpoint);
    EXPECT_THAT(std::string(met.status().message()), HasSubstr("rank-00000.safetensors: the disk is full"));
    EXPECT_EQ(saver.finish(), absl::OkStatus()) << "nothing is at work";
  });
  EXPECT_EQ(checkpoint::latestWholeStep(folder.path()), 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "step-2.tmp"));
}

TEST(CheckpointSaver, WhatMustBeOnTheDiskFirstIs) {
  TestFolder folder;
  const Program program(5);
  testing::onEachRank(2, [&](Communicator &communicator) {
    CheckpointSaver::Options options = optionsFor(folder, checkpoint::systemFiles());
    options.before = [&] {
      EXPECT_EQ(communicator.rank(), 0);
      return absl::UnavailableError("metrics.jsonl: cannot sync to the disk");
    };
    CheckpointSaver saver(communicator, options);
    ASSERT_EQ(saver.begin(program.state, ownedBy(communicator.rank(), 2, program)), absl::OkStatus());
    const absl::Status status = saver.finish();
    EXPECT_EQ(status.message(), "metrics.jsonl: cannot sync to the disk");
    EXPECT_EQ(exitCodeOf(status), ExitCode::Checkpoint);
  });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

} // namespace
} // namespace weft
