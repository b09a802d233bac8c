//===- CpuStream.h - Streams and events of the CPU ------------------------===//
//
// A stream is a thread that takes items from a ring of fixed capacity. It computes in a place of the pool
// that all streams share, and has none while it waits. Internal to runtime/device.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DEVICE_CPUSTREAM_H
#define WEFT_RUNTIME_DEVICE_CPUSTREAM_H

#include "kernels/common/ComputePlace.h"
#include "kernels/common/ThreadPool.h"
#include "runtime/device/Device.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace weft {

class CpuEvent : public Event {
public:
  uint64_t value() const override;
  void signal(uint64_t value) override;
  absl::Status wait(uint64_t value, absl::Duration timeout) override;

  /// Blocks until the event has reached `value` or `cancelled` is true; whoever sets it calls wakeAll() then.
  void waitUnless(uint64_t value, const std::atomic<bool> &cancelled);
  void wakeAll();

private:
  mutable std::mutex mutex;
  std::condition_variable changed;
  uint64_t current = 0;
};

class CpuStream : public Stream {
public:
  explicit CpuStream(std::shared_ptr<ThreadPool> sharedPool);
  ~CpuStream() override;
  void launch(const Kernel &kernel, const KernelArguments &arguments) override;
  void copy(void *to, const void *from, uint64_t bytes) override;
  void signal(Event &event, uint64_t value) override;
  void wait(Event &event, uint64_t value) override;
  void stamp(int64_t &nanoseconds) override;
  absl::Status synchronize() override;

private:
  enum class ItemKind : uint8_t { Launch, Copy, Signal, Wait, Stamp };
  struct Item {
    ItemKind kind = ItemKind::Copy;
    const Kernel *kernel = nullptr;
    KernelArguments arguments;
    void *to = nullptr; ///< of a copy, or an int64_t of a stamp
    const void *from = nullptr;
    uint64_t number = 0; ///< bytes of a copy, value of a signal or wait
    CpuEvent *event = nullptr;
  };
  static constexpr uint64_t kCapacity = 1024;

  void enqueue(const Item &item);
  void work();
  void execute(const Item &item, ComputePlace &place);

  std::mutex mutex;
  std::condition_variable notEmpty, notFull, idle;
  std::array<Item, kCapacity> ring;
  uint64_t enqueued = 0, finished = 0; ///< since the beginning
  CpuEvent *awaited = nullptr;         ///< by the item at hand
  std::atomic<bool> stopping{false};
  const std::shared_ptr<ThreadPool> pool;
  std::thread thread; ///< last: starts when all else is there
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICE_CPUSTREAM_H
