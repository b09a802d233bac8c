#include "runtime/device/CpuStream.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace weft {

uint64_t CpuEvent::value() const {
  std::lock_guard<std::mutex> lock(mutex);
  return current;
}

void CpuEvent::signal(uint64_t value) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    current = std::max(current, value);
  }
  changed.notify_all();
}

absl::Status CpuEvent::wait(uint64_t value, absl::Duration timeout) {
  // The clock's arithmetic overflows for "infinite": a hundred days are as good.
  auto limit = absl::ToChronoMilliseconds(std::min(timeout, absl::Hours(2400)));
  std::unique_lock<std::mutex> lock(mutex);
  if (changed.wait_for(lock, limit, [&] { return current >= value; }))
    return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat("an event is at ", current, " and did not reach ", value,
                                                  " within ", absl::FormatDuration(timeout)));
}

void CpuEvent::waitUnless(uint64_t value, const std::atomic<bool> &cancelled) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return current >= value || cancelled.load(); });
}

void CpuEvent::wakeAll() {
  {
    std::lock_guard<std::mutex> lock(mutex);
  } // a waiter is before its look at the flag, or asleep: never between
  changed.notify_all();
}

CpuStream::CpuStream(std::shared_ptr<ThreadPool> sharedPool)
    : pool(std::move(sharedPool)), thread([this] { work(); }) {}

CpuStream::~CpuStream() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping.store(true);
    if (awaited != nullptr)
      awaited->wakeAll();
  }
  notEmpty.notify_all();
  thread.join();
}

void CpuStream::launch(const Kernel &kernel, const KernelArguments &arguments) {
  Item item;
  item.kind = ItemKind::Launch;
  item.kernel = &kernel;
  item.arguments = arguments;
  enqueue(item);
}

void CpuStream::copy(void *to, const void *from, uint64_t bytes) {
  Item item;
  item.kind = ItemKind::Copy;
  item.to = to;
  item.from = from;
  item.number = bytes;
  enqueue(item);
}

void CpuStream::signal(Event &event, uint64_t value) {
  Item item;
  item.kind = ItemKind::Signal;
  item.event = static_cast<CpuEvent *>(&event);
  item.number = value;
  enqueue(item);
}

void CpuStream::wait(Event &event, uint64_t value) {
  Item item;
  item.kind = ItemKind::Wait;
  item.event = static_cast<CpuEvent *>(&event);
  item.number = value;
  enqueue(item);
}

void CpuStream::stamp(int64_t &nanoseconds) {
  Item item;
  item.kind = ItemKind::Stamp;
  item.to = &nanoseconds;
  enqueue(item);
}

void CpuStream::enqueue(const Item &item) {
  {
    std::unique_lock<std::mutex> lock(mutex);
    notFull.wait(lock, [&] { return enqueued - finished < kCapacity; });
    ring[enqueued % kCapacity] = item;
    ++enqueued;
  }
  notEmpty.notify_one();
}

absl::Status CpuStream::synchronize() {
  std::unique_lock<std::mutex> lock(mutex);
  uint64_t target = enqueued;
  idle.wait(lock, [&] { return finished >= target; });
  return absl::OkStatus();
}

void CpuStream::work() {
  ComputePlace place(*pool);
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    if (enqueued == finished)
      place.giveBack();
    notEmpty.wait(lock, [&] { return enqueued != finished || stopping.load(); });
    if (stopping.load())
      return;
    // The producer leaves this slot alone until `finished` moves past it.
    const Item &item = ring[finished % kCapacity];
    awaited = item.kind == ItemKind::Wait ? item.event : nullptr;
    lock.unlock();
    execute(item, place);
    lock.lock();
    awaited = nullptr;
    ++finished;
    if (enqueued == finished)
      idle.notify_all();
    if (enqueued - finished == kCapacity / 2) // not at every item: each would cost the host a switch
      notFull.notify_one();
  }
}

void CpuStream::execute(const Item &item, ComputePlace &place) {
  switch (item.kind) {
  case ItemKind::Launch:
    place.takeTurn();
    item.kernel->run(item.arguments, *pool);
    return;
  case ItemKind::Copy:
    place.takeTurn();
    std::memcpy(item.to, item.from, item.number);
    return;
  case ItemKind::Signal:
    item.event->signal(item.number);
    return;
  case ItemKind::Wait:
    place.giveBack();
    item.event->waitUnless(item.number, stopping);
    return;
  case ItemKind::Stamp:
    *static_cast<int64_t *>(item.to) = monotonicNanoseconds();
    return;
  }
}

} // namespace weft
