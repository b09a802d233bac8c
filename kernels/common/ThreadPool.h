//===- ThreadPool.h - The one pool of a process -------------------------===//
//
// Kernels hand it a fixed number of tiles; threads only take tiles: those of their own share, then what
// others have not come to (docs/decisions/036). The grid of tiles is a function of the kernel call alone, so
// results are the same bits for any number of threads.
//
// All ranks of a process share it (docs/decisions/038). Of size() N there are N places to compute in, and
// N - 1 workers. A thread that runs a kernel has a place (ComputePlace.h), and takes part in its own tiles;
// workers take the places that no such thread has, and help whoever has tiles.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_THREADPOOL_H
#define WEFT_KERNELS_COMMON_THREADPOOL_H

#include <cstdint>
#include <memory>

namespace weft {

class ThreadPool {
public:
  static constexpr int kMostThreads = 128;

  /// `threads` compute at once, at most; 1 to kMostThreads, a number beyond is the nearest of these.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int size() const;

  /// Calls body(tile, worker) for each tile in [0, tiles), worker in [0, size()) and in one call of it at a
  /// time, and returns when all are done. Several threads may call it at once. A thread that has no place
  /// waits for one. Allocates nothing. Not reentrant: a body must not call it, and waits for no other thread.
  template <typename Body> void forEachTile(int64_t tiles, const Body &body) {
    run(
        tiles,
        [](const void *closure, int64_t tile, int worker) {
          (*static_cast<const Body *>(closure))(tile, worker);
        },
        &body);
  }

private:
  friend class ComputePlace;
  using TileFunction = void (*)(const void *closure, int64_t tile, int worker);
  void run(int64_t tiles, TileFunction function, const void *closure);

  int takePlace(int last);
  void runInPlace(int place) const;
  void givePlaceBack(int place);
  bool arePlacesWanted() const;

  struct State;
  std::unique_ptr<State> state;
};

} // namespace weft

#endif // WEFT_KERNELS_COMMON_THREADPOOL_H
