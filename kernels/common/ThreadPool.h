//===- ThreadPool.h - The one pool of a process -------------------------===//
//
// Kernels hand it a fixed number of tiles; threads only take tiles: those of their own share, then what
// others have not come to (docs/decisions/036). The grid of tiles is a function of the kernel call alone, so
// results are the same bits for any number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_THREADPOOL_H
#define WEFT_KERNELS_COMMON_THREADPOOL_H

#include <cstdint>
#include <memory>

namespace weft {

class ThreadPool {
public:
  /// `threads` workers in all; the calling thread of forEachTile is one of them. At least 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int size() const;

  /// Calls body(tile, worker) for each tile in [0, tiles), worker in [0, size()), and returns when all are
  /// done. Allocates nothing. Not reentrant: a body must not call forEachTile of the same pool.
  template <typename Body> void forEachTile(int64_t tiles, const Body &body) {
    run(
        tiles,
        [](const void *closure, int64_t tile, int worker) {
          (*static_cast<const Body *>(closure))(tile, worker);
        },
        &body);
  }

private:
  using TileFunction = void (*)(const void *closure, int64_t tile, int worker);
  void run(int64_t tiles, TileFunction function, const void *closure);

  struct State;
  std::unique_ptr<State> state;
};

} // namespace weft

#endif // WEFT_KERNELS_COMMON_THREADPOOL_H
