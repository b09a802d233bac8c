//===- ThreadPool.cpp - Tiles handed to whoever has a place ---------------===//
//
// Whoever runs a kernel has a place, and each place has a job: what its holder offers. A helper enters a job
// only while it is open, and the owner closes it and waits for those that are in it before it returns: nobody
// reads a job that is being replaced, and nobody waits for a thread that has not come. A worker that has a
// place looks for open jobs for a moment (a step launches kernels microseconds apart) and then gives it back
// and sleeps: an idle pool costs nothing. It gives it back at once, or after the tile at hand, when a rank
// waits for a place: a rank's own kernel goes before helping another's.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"

#include "kernels/common/ComputePlace.h"
#include "kernels/common/IndexSet.h"
#include "kernels/common/PlaceProcessors.h"
#include "kernels/common/Places.h"
#include "kernels/common/Waiting.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace weft {
namespace {

static_assert(ThreadPool::kMostThreads == IndexSet::kMost);

using TileFunction = void (*)(const void *closure, int64_t tile, int worker);

/// The tiles that the holder of a place offers.
class Job {
public:
  /// For shares of up to `threads` threads.
  void reserve(int threads) { cursors = std::make_unique<Cursor[]>(static_cast<size_t>(threads)); }

  /// By the owner, while the job is closed.
  void open(int64_t tileCount, TileFunction ofTiles, const void *itsClosure, int participants) {
    function = ofTiles;
    closure = itsClosure;
    tiles = tileCount;
    shares = participants;
    for (int share = 0; share < shares; ++share)
      cursors[static_cast<size_t>(share)].next.store(firstOf(share), std::memory_order_relaxed);
    entrance.store(kOpen | static_cast<uint64_t>(shares - 1) << kLimitShift);
  }
  /// By the owner: nobody enters any more; returns when all helpers have left.
  void close() {
    entrance.fetch_and(kHelpers);
    ownersPlace.wait([&] { return entrance.load() == 0; });
  }

  enum class Entry : uint8_t { Refused, Entered, EnteredLast };
  /// By a helper. Refused when the job is closed or has a helper for each share; whoever enters last fills
  /// it.
  Entry enter() {
    uint64_t seen = entrance.load();
    while ((seen & kOpen) != 0 && (seen & kHelpers) < seen >> kLimitShift)
      if (entrance.compare_exchange_weak(seen, seen + 1))
        return (seen & kHelpers) + 1 == seen >> kLimitShift ? Entry::EnteredLast : Entry::Entered;
    return Entry::Refused;
  }
  void leave() {
    if (entrance.fetch_sub(1) == 1) // closed, and the last
      ownersPlace.wake();
  }

  /// The tiles of the worker's own share, which is the same in every run of a kernel; then those that others
  /// have not come to. Stops after a tile when `isEnough`; true when it has left no tile.
  template <typename Enough> bool takeTiles(int worker, const Enough &isEnough) {
    for (int i = 0; i < shares; ++i) {
      const int share = (worker + i) % shares;
      const int64_t end = firstOf(share + 1);
      std::atomic<int64_t> &next = cursors[static_cast<size_t>(share)].next;
      while (next.load(std::memory_order_relaxed) < end) {
        if (const int64_t tile = next.fetch_add(1); tile < end)
          function(closure, tile, worker);
        if (isEnough())
          return false;
      }
    }
    return true;
  }

private:
  // The entrance: helpers that are inside, how many may be, and whether the job is open.
  static constexpr uint64_t kHelpers = 0xff, kOpen = 1 << 8;
  static constexpr int kLimitShift = 16;
  /// Of each share, the tile that is taken next.
  struct alignas(64) Cursor {
    std::atomic<int64_t> next{0};
  };

  int64_t firstOf(int share) const { return tiles * share / shares; }

  TileFunction function = nullptr;
  const void *closure = nullptr;
  int64_t tiles = 0;
  int shares = 1;
  std::unique_ptr<Cursor[]> cursors;
  alignas(64) std::atomic<uint64_t> entrance{0};
  SleepingPlace ownersPlace;
};

} // namespace

struct ThreadPool::State {
  explicit State(int threads)
      : size(threads), places(threads), processors(threads), jobs(static_cast<size_t>(threads)),
        beds(static_cast<size_t>(threads)) {
    for (Job &job : jobs)
      job.reserve(threads);
  }

  const int size;
  Places places;
  const PlaceProcessors processors;
  std::vector<Job> jobs; ///< by place
  IndexSet openJobs;     ///< that may have tiles left, and room for a helper
  IndexSet sleepers;     ///< workers that sleep, or are about to
  std::vector<Bed> beds; ///< by worker
  std::atomic<bool> stopping{false};
  std::vector<std::thread> workers;

  Job &job(int place) { return jobs[static_cast<size_t>(place)]; }

  void runTiles(int place, int64_t tiles, TileFunction function, const void *closure) {
    const int shares = static_cast<int>(std::min<int64_t>(tiles, size));
    if (shares <= 1) {
      for (int64_t tile = 0; tile < tiles; ++tile)
        function(closure, tile, 0);
      return;
    }
    Job &own = job(place);
    own.open(tiles, function, closure, shares);
    openJobs.insert(place);
    callHelpers(shares - 1);
    own.takeTiles(0, [] { return false; });
    openJobs.erase(place);
    own.close();
    openJobs.erase(place); // a helper that left early may have put it back
  }

  /// Wakes workers for a job that has just been opened, as many as can be of use and find a place.
  void callHelpers(int useful) {
    if (!sleepers.any() || places.areWanted())
      return;
    if (openJobs.count() == 1) // those that are awake come by themselves
      useful -= size - 1 - sleepers.count();
    callWorkers(std::min(useful, places.countFree()));
  }
  void callWorkers(int count) {
    for (; count > 0; --count) {
      const int worker = sleepers.takeLowest();
      if (worker < 0)
        return;
      beds[static_cast<size_t>(worker)].call();
    }
  }
  /// A place may be free that nobody waits for.
  bool canHelp() const { return openJobs.any() && places.anyFree() && !places.areWanted(); }

  void work(int worker) {
    int last = worker;
    while (!stopping.load()) {
      if (const int place = places.takeUnlessWanted(last); place >= 0) {
        processors.run(last = place);
        while (spinUntil([&] { return mustLeave() || openJobs.any(); }) && !mustLeave())
          if (!help(worker))
            relax();
        places.giveBack(place);
      }
      sleep(worker);
    }
  }
  bool mustLeave() const { return places.areWanted() || stopping.load(); }

  /// Takes tiles of one job; false when none was open any more. With several open, workers spread over them.
  /// What is done to openJobs while this thread is inside is about this very job: its owner waits.
  bool help(int worker) {
    return openJobs.anyFrom(worker * openJobs.count() / size, [&](int place) {
      const Job::Entry entry = job(place).enter();
      if (entry == Job::Entry::Refused)
        return false;
      if (entry == Job::Entry::EnteredLast)
        openJobs.erase(place);
      if (job(place).takeTiles(worker, [&] { return places.areWanted(); }))
        openJobs.erase(place);
      else
        openJobs.insert(place);
      job(place).leave();
      return true;
    });
  }

  void stop() {
    stopping.store(true);
    callWorkers(size);
    for (std::thread &worker : workers)
      worker.join();
  }

  void sleep(int worker) {
    sleepers.insert(worker);
    if ((canHelp() || stopping.load()) && sleepers.erase(worker))
      return; // nobody has called
    beds[static_cast<size_t>(worker)].sleep();
  }
};

ThreadPool::ThreadPool(int threads) : state(std::make_unique<State>(std::clamp(threads, 1, kMostThreads))) {
  try {
    for (int worker = 1; worker < state->size; ++worker)
      state->workers.emplace_back([this, worker] { state->work(worker); });
  } catch (...) {
    state->stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { state->stop(); }

int ThreadPool::size() const { return state->size; }

void ThreadPool::run(int64_t tiles, TileFunction function, const void *closure) {
  if (const ComputePlace *own = ComputePlace::ofThisThread(); own != nullptr && own->isOf(*this))
    return state->runTiles(own->index(), tiles, function, closure);
  const int place = takePlace(-1);
  state->runTiles(place, tiles, function, closure);
  givePlaceBack(place);
}

int ThreadPool::takePlace(int last) {
  const int place = state->places.take(last);
  if (state->canHelp()) // more than one was free
    state->callWorkers(1);
  return place;
}

void ThreadPool::givePlaceBack(int place) {
  state->places.giveBack(place);
  if (state->canHelp())
    state->callWorkers(1);
}

void ThreadPool::runInPlace(int place) const { state->processors.run(place); }

bool ThreadPool::arePlacesWanted() const { return state->places.areWanted(); }

} // namespace weft
