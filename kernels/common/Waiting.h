//===- Waiting.h - A short look, then sleep -------------------------------===//
//
// Kernels follow each other by microseconds, and waking a thread takes longer: whoever waits for the next one
// looks for a moment before it sleeps. Asleep it costs nothing.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_WAITING_H
#define WEFT_KERNELS_COMMON_WAITING_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft {

inline void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Looks until `ready`, or for about 20 microseconds; whether it was.
template <typename Ready> bool spinUntil(const Ready &ready) {
  const auto looks = [&](int count) {
    for (int i = 0; i < count; ++i) {
      if (ready())
        return true;
      relax();
    }
    return false;
  };
  if (looks(64))
    return true;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  do {
    if (looks(32))
      return true;
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

/// Where one thread sleeps until another has changed an atomic. The sleeper counts itself before it looks a
/// last time, the waker looks at the count after its change: one of the two sees the other.
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

/// Where one thread sleeps until it is called. A call that comes before it sleeps is not lost.
class Bed {
public:
  void sleep() {
    std::unique_lock<std::mutex> lock(mutex);
    wakeUp.wait(lock, [&] { return isCalled; });
    isCalled = false;
  }
  void call() {
    std::lock_guard<std::mutex> lock(mutex);
    isCalled = true;
    wakeUp.notify_one();
  }

private:
  std::mutex mutex;
  std::condition_variable wakeUp;
  bool isCalled = false;
};

} // namespace weft

#endif // WEFT_KERNELS_COMMON_WAITING_H
