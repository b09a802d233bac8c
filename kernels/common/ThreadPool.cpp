//===- ThreadPool.cpp - Tiles handed to waiting threads -------------------===//
//
// One word announces a job: its serial number, and how many threads take part. A thread that takes part
// checks out before the next job may begin, so nobody ever reads a job that is being replaced. Waiting is a
// short spin (a step launches kernels microseconds apart), then sleep on a condition variable: an idle pool
// costs nothing.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft {
namespace {

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Spins for about 20 microseconds; true as soon as `ready` is.
template <typename Ready> bool spinUntil(const Ready &ready) {
  for (int i = 0; i < 64; ++i) {
    if (ready())
      return true;
    relax();
  }
  auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready())
        return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

/// A place where one side sleeps until the other has changed an atomic. The sleeper counts itself before it
/// looks a last time, the waker looks at the count after its change: one of the two sees the other.
class SleepingPlace {
public:
  template <typename Ready> void wait(const Ready &ready) {
    if (spinUntil(ready))
      return;
    std::unique_lock<std::mutex> lock(mutex);
    sleepers.fetch_add(1);
    wakeUp.wait(lock, ready);
    sleepers.fetch_sub(1);
  }
  void wake() {
    if (sleepers.load() == 0)
      return;
    {
      std::lock_guard<std::mutex> lock(mutex);
    }
    wakeUp.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable wakeUp;
  std::atomic<int> sleepers{0};
};

constexpr int kMostThreads = 128;
constexpr uint64_t kParticipantBits = 8;
constexpr uint64_t kParticipantMask = (1u << kParticipantBits) - 1;

} // namespace

struct ThreadPool::State {
  // The job, written by the caller of run() while no worker takes part in one.
  TileFunction function = nullptr;
  const void *closure = nullptr;
  int64_t tiles = 0;

  alignas(64) std::atomic<uint64_t> announced{0}; ///< serial number << 8 | participants
  /// Of each participant's share, the tile that is taken next.
  struct alignas(64) Cursor {
    std::atomic<int64_t> next{0};
  };
  std::unique_ptr<Cursor[]> cursors;
  alignas(64) std::atomic<int> unfinished{0}; ///< workers that have not checked out of the job
  std::atomic<bool> stopping{false};
  SleepingPlace workersPlace, callerPlace;
  std::vector<std::thread> workers;

  int64_t firstOf(int participant, int participants) const { return tiles * participant / participants; }

  /// The tiles of its own share, which is the same in every run of a kernel; then those that others have not
  /// come to.
  void takeTiles(int worker, int participants) {
    for (int i = 0; i < participants; ++i) {
      const int owner = (worker + i) % participants;
      const int64_t end = firstOf(owner + 1, participants);
      std::atomic<int64_t> &next = cursors[static_cast<size_t>(owner)].next;
      while (next.load(std::memory_order_relaxed) < end)
        if (const int64_t tile = next.fetch_add(1); tile < end)
          function(closure, tile, worker);
    }
  }

  void work(int worker) {
    uint64_t seen = 0;
    while (true) {
      workersPlace.wait([&] { return announced.load() != seen || stopping.load(); });
      if (stopping.load())
        return;
      seen = announced.load();
      const int participants = static_cast<int>(seen & kParticipantMask);
      if (worker >= participants)
        continue;
      takeTiles(worker, participants);
      if (unfinished.fetch_sub(1) == 1)
        callerPlace.wake();
    }
  }
};

ThreadPool::ThreadPool(int threads) : state(std::make_unique<State>()) {
  threads = std::clamp(threads, 1, kMostThreads);
  state->cursors = std::make_unique<State::Cursor[]>(static_cast<size_t>(threads));
  for (int worker = 1; worker < threads; ++worker)
    state->workers.emplace_back([this, worker] { state->work(worker); });
}

ThreadPool::~ThreadPool() {
  state->stopping.store(true);
  state->workersPlace.wake();
  for (std::thread &worker : state->workers)
    worker.join();
}

int ThreadPool::size() const { return static_cast<int>(state->workers.size()) + 1; }

void ThreadPool::run(int64_t tiles, TileFunction function, const void *closure) {
  int participants = static_cast<int>(std::min<int64_t>(tiles, size()));
  if (participants <= 1) {
    for (int64_t tile = 0; tile < tiles; ++tile)
      function(closure, tile, 0);
    return;
  }
  state->function = function;
  state->closure = closure;
  state->tiles = tiles;
  for (int participant = 0; participant < participants; ++participant)
    state->cursors[static_cast<size_t>(participant)].next.store(state->firstOf(participant, participants));
  state->unfinished.store(participants - 1);
  uint64_t serial = (state->announced.load() >> kParticipantBits) + 1;
  state->announced.store(serial << kParticipantBits | static_cast<uint64_t>(participants));
  state->workersPlace.wake();
  state->takeTiles(0, participants);
  state->callerPlace.wait([&] { return state->unfinished.load() == 0; });
}

} // namespace weft
