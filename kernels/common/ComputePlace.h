//===- ComputePlace.h - A thread's place among those that compute ---------===//
//
// The ranks of a process share one pool, and each runs its kernels on a thread of its own. Such a thread has
// a place of the pool while it computes. It keeps the place from one kernel to the next, and gives it back
// when it waits for another rank, a message or work: then another rank computes, or a worker helps one. A
// thread that waits for others while it has a place could be what they wait for, so none does.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_COMPUTEPLACE_H
#define WEFT_KERNELS_COMMON_COMPUTEPLACE_H

#include <chrono>

namespace weft {

class ThreadPool;

/// The calling thread's, which alone uses it, as long as it lives. At first it has no place.
class ComputePlace {
public:
  explicit ComputePlace(ThreadPool &pool);
  ~ComputePlace();
  ComputePlace(const ComputePlace &) = delete;
  ComputePlace &operator=(const ComputePlace &) = delete;

  /// The calling thread's; null when it has none.
  static ComputePlace *ofThisThread();
  /// Before the calling thread waits: nothing where it has no place.
  static void giveBackOfThisThread();

  /// Waits for a place, unless the thread has one.
  void take();
  void giveBack();
  /// Between two kernels: takes a place, or leaves the one that it has had for a turn to whoever waits, and
  /// waits for the next.
  void takeTurn();

  bool isOf(const ThreadPool &other) const { return &pool == &other && place >= 0; }
  bool has() const { return place >= 0; }
  int index() const { return place; }

private:
  ThreadPool &pool;
  ComputePlace *const outer; ///< the thread's before this one
  int place = -1, last = -1;
  std::chrono::steady_clock::time_point since; ///< it has the place
};

/// For a function in which a thread may give its place back: at the end of the scope it has one again, if it
/// had one at the beginning. Declared before any lock, so that none is held while it waits.
class PlaceAfterWaiting {
public:
  PlaceAfterWaiting() : place(ComputePlace::ofThisThread()), had(place != nullptr && place->has()) {}
  ~PlaceAfterWaiting() {
    if (had)
      place->take();
  }
  PlaceAfterWaiting(const PlaceAfterWaiting &) = delete;
  PlaceAfterWaiting &operator=(const PlaceAfterWaiting &) = delete;

private:
  ComputePlace *const place;
  const bool had;
};

} // namespace weft

#endif // WEFT_KERNELS_COMMON_COMPUTEPLACE_H
