//===- Places.h - Who may compute -----------------------------------------===//
//
// A pool of N threads has N places, and whoever computes has one: so no more than N threads compute at once,
// however many ask. Those that find none free wait in the order in which they came. Internal to the pool.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_PLACES_H
#define WEFT_KERNELS_COMMON_PLACES_H

#include "kernels/common/IndexSet.h"

#include <condition_variable>
#include <mutex>

namespace weft {

class Places {
public:
  explicit Places(int count);

  /// Blocks until there is one for the caller: the one that it had last (-1: none), if that is free.
  int take(int last);
  /// One that is free while nobody waits; -1 when there is none.
  int takeUnlessWanted(int last) { return areWanted() ? -1 : takeFree(last); }
  void giveBack(int place);

  /// Whether somebody waits for one.
  bool areWanted() const { return waiting.load() > 0; }
  bool anyFree() const { return free.any(); }
  int countFree() const { return free.count(); }

private:
  struct Waiter {
    std::condition_variable turn;
    Waiter *next = nullptr;
  };

  int takeFree(int last) { return last >= 0 && free.erase(last) ? last : free.takeLowest(); }

  IndexSet free;
  alignas(64) std::atomic<int> waiting{0};
  std::mutex mutex;
  Waiter *first = nullptr, *end = nullptr; ///< of those that wait
};

} // namespace weft

#endif // WEFT_KERNELS_COMMON_PLACES_H
