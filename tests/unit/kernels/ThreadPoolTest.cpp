#include "kernels/common/ThreadPool.h"
#include "kernels/common/ComputePlace.h"
#include "kernels/common/Waiting.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

namespace weft {
namespace {

TEST(ThreadPool, RunsEveryTileOnceOnAnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 7, 16, 128}) {
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

// Ranks: threads that share a pool, each with a place while it computes.

void onThreads(int count, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < count; ++thread)
    threads.emplace_back([&body, thread] { body(thread); });
  for (std::thread &thread : threads)
    thread.join();
}

void awaitTrue(const std::atomic<bool> &flag) {
  while (!flag)
    std::this_thread::yield();
}

/// Two tiles that meet: each ends when both have begun, so two threads must run them.
void meetInTwoTiles(ThreadPool &pool) {
  std::atomic<int> begun{0};
  pool.forEachTile(2, [&](int64_t, int) {
    ++begun;
    while (begun < 2)
      std::this_thread::yield();
  });
}

TEST(SharedPool, RunsTheJobsOfManyRanksAtTheSameTime) {
  for (int threads : {1, 2, 3, 7, 128}) {
    ThreadPool pool(threads);
    onThreads(16, [&](int rank) {
      ComputePlace place(pool);
      std::vector<int64_t> sums(200, 0); // unsynchronized, as above
      for (int job = 0; job < 300; ++job) {
        place.takeTurn();
        pool.forEachTile(1 + (rank + job) % 200,
                         [&](int64_t tile, int) { ++sums[static_cast<size_t>(tile)]; });
        if (job % 7 == rank % 7)
          place.giveBack();
      }
      int64_t expected = 0, sum = 0;
      for (int job = 0; job < 300; ++job)
        expected += 1 + (rank + job) % 200;
      for (int64_t each : sums)
        sum += each;
      EXPECT_EQ(sum, expected) << threads;
    });
  }
}

TEST(SharedPool, NoMoreThanItsSizeComputeAtOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::atomic<int> computing{0}, most{0};
    onThreads(12, [&](int rank) {
      ComputePlace place(pool);
      for (int job = 0; job < 50; ++job) {
        if (rank % 2 == 0) // the others come without a place, and take one for each job
          place.takeTurn();
        pool.forEachTile(20, [&](int64_t, int) {
          const int now = ++computing;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          for (int i = 0; i < 500; ++i)
            relax();
          --computing;
        });
      }
    });
    EXPECT_LE(most, threads);
  }
}

TEST(SharedPool, AWorkerHelpsTheRankThatHasTiles) {
  ThreadPool pool(2);
  ComputePlace place(pool);
  place.take();
  for (int job = 0; job < 100; ++job)
    meetInTwoTiles(pool);
}

TEST(SharedPool, ThePlaceOfARankThatWaitsIsAWorkers) {
  ThreadPool pool(2);
  std::atomic<bool> hasComputed{false}, hasPlace{false};
  onThreads(2, [&](int rank) {
    ComputePlace place(pool);
    place.take();
    if (rank == 0) {
      hasPlace = true;
      place.giveBack(); // to wait for rank 1
      awaitTrue(hasComputed);
    } else {
      awaitTrue(hasPlace);
      meetInTwoTiles(pool);
      hasComputed = true;
    }
  });
}

TEST(SharedPool, APlaceThatIsGivenBackInTheMiddleOfAJobBringsHelp) {
  ThreadPool pool(2);
  std::atomic<bool> hasBegun{false}, hasComputed{false};
  onThreads(2, [&](int rank) {
    ComputePlace place(pool);
    place.take(); // now both places are taken, or the worker's is asked for
    if (rank == 0) {
      awaitTrue(hasBegun);
      place.giveBack();
      awaitTrue(hasComputed);
      return;
    }
    std::atomic<int> begun{0};
    pool.forEachTile(2, [&](int64_t, int) {
      ++begun;
      hasBegun = true;
      while (begun < 2)
        std::this_thread::yield();
    });
    hasComputed = true;
  });
}

TEST(SharedPool, AHelperLeavesItsPlaceToARankThatWaits) {
  ThreadPool pool(2);
  std::atomic<bool> isHelped{false}, hasComputed{false};
  std::atomic<int> helped{0};
  constexpr int64_t kTiles = 40000; // twenty seconds of help
  onThreads(2, [&](int rank) {
    ComputePlace place(pool);
    if (rank == 1) {
      awaitTrue(isHelped); // a worker has the other place, and tiles enough to keep it
      place.take();
      hasComputed = true;
      return;
    }
    place.take();
    pool.forEachTile(kTiles, [&](int64_t, int worker) {
      if (worker == 0)
        return awaitTrue(hasComputed);
      isHelped = true;
      if (hasComputed)
        return;
      ++helped;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  EXPECT_LT(helped, kTiles / 2);
}

TEST(SharedPool, RanksThatNeverWaitComputeInTurn) {
  for (int threads : {1, 2}) {
    ThreadPool pool(threads);
    constexpr int kRanks = 5;
    std::atomic<int> done{0};
    onThreads(kRanks, [&](int) {
      ComputePlace place(pool);
      // Each goes on until all have computed: one that kept its place would go on for ever.
      for (int64_t job = 0; done < kRanks; ++job) {
        place.takeTurn();
        pool.forEachTile(3, [&](int64_t, int) {});
        if (job == 3)
          ++done;
      }
    });
    EXPECT_EQ(done, kRanks);
  }
}

TEST(SharedPool, ARankHasAPlaceAgainAfterItHasWaited) {
  ThreadPool pool(1);
  EXPECT_EQ(ComputePlace::ofThisThread(), nullptr);
  ComputePlace::giveBackOfThisThread(); // nothing to give
  {
    ComputePlace place(pool);
    EXPECT_EQ(ComputePlace::ofThisThread(), &place);
    {
      const PlaceAfterWaiting after;
      EXPECT_FALSE(place.has());
    }
    EXPECT_FALSE(place.has()) << "it had none";
    place.take();
    {
      const PlaceAfterWaiting after;
      ComputePlace::giveBackOfThisThread();
      EXPECT_FALSE(place.has());
    }
    EXPECT_TRUE(place.has());
    pool.forEachTile(2, [](int64_t, int worker) { EXPECT_EQ(worker, 0); });
  }
  EXPECT_EQ(ComputePlace::ofThisThread(), nullptr);
  pool.forEachTile(2, [](int64_t, int) {}); // the place came back
}

TEST(ThreadPool, TakesFewerThanOneOrTooManyThreadsAsTheNearestPossible) {
  EXPECT_EQ(ThreadPool(0).size(), 1);
  EXPECT_EQ(ThreadPool(500).size(), 128);
}

} // namespace
} // namespace weft
