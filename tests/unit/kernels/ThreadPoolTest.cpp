#include "kernels/common/ThreadPool.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

namespace weft {
namespace {

TEST(ThreadPool, RunsEveryTileOnceOnAnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 16, 128}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int64_t tiles : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> count(static_cast<size_t>(tiles));
      std::atomic<bool> workerInRange{true};
      pool.forEachTile(tiles, [&](int64_t tile, int worker) {
        count[static_cast<size_t>(tile)].fetch_add(1);
        if (worker < 0 || worker >= threads)
          workerInRange = false;
      });
      EXPECT_TRUE(workerInRange);
      EXPECT_TRUE(std::all_of(count.begin(), count.end(), [](auto &n) { return n.load() == 1; }));
    }
  }
}

TEST(ThreadPool, RunsManyShortJobsOneAfterTheOther) {
  ThreadPool pool(3);
  std::vector<int64_t> sums(4, 0); // unsynchronized: a job that overlapped the next one would lose additions
  for (int job = 0; job < 4000; ++job)
    pool.forEachTile(1 + job % 4, [&](int64_t tile, int) { ++sums[static_cast<size_t>(tile)]; });
  EXPECT_EQ(sums, (std::vector<int64_t>{4000, 3000, 2000, 1000}));
}

TEST(ThreadPool, WorksAfterItsWorkersWentToSleep) {
  ThreadPool pool(2);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<int> done{0};
    pool.forEachTile(2, [&](int64_t, int) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1)); // the caller sleeps too
      ++done;
    });
    EXPECT_EQ(done, 2);
  }
}

TEST(ThreadPool, IdleWorkersUseNoProcessorTime) {
  ThreadPool pool(8);
  pool.forEachTile(8, [](int64_t, int) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::clock_t before = std::clock(); // processor time of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.02);
}

TEST(ThreadPool, TakesFewerThanOneOrTooManyThreadsAsTheNearestPossible) {
  EXPECT_EQ(ThreadPool(0).size(), 1);
  EXPECT_EQ(ThreadPool(500).size(), 128);
}

} // namespace
} // namespace weft
