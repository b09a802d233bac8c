//===- Device.h - What runs programs: memory, streams, events, kernels ----===//
//
// A device hands out memory, kernels, and streams: queues whose work runs in order, asynchronously to the
// host and to other streams. Events are the only ordering between streams: a 64-bit value that only grows; a
// stream (or the host) signals a value, and whoever waits for it goes on once the event has reached it,
// however early or late it came to wait. tests/unit/device holds every device to this contract.
//
// Every device so far shares the host's address space: the host reads and writes Memory directly while no
// stream does.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DEVICE_DEVICE_H
#define WEFT_RUNTIME_DEVICE_DEVICE_H

#include "kernels/common/Kernel.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace weft {

/// The host's monotonic clock, one for all threads, which stamps of streams are read from.
inline int64_t monotonicNanoseconds() {
  const auto sinceItsStart = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(sinceItsStart).count();
}

/// Memory of a device, freed with the object. 64-byte aligned, zero at first.
class Memory {
public:
  virtual ~Memory() = default;
  virtual std::byte *data() const = 0;
  /// What was asked for.
  virtual uint64_t bytes() const = 0;
};

/// A timeline: starts at 0, only grows. Safe to use from any thread.
class Event {
public:
  virtual ~Event() = default;
  virtual uint64_t value() const = 0;
  /// Raises the value to `value`, from the host; a lower one changes nothing.
  virtual void signal(uint64_t value) = 0;
  /// Blocks the host until the value is at least `value`. DeadlineExceeded, naming both values, after
  /// `timeout`.
  virtual absl::Status wait(uint64_t value, absl::Duration timeout) = 0;
};

/// An in-order queue. One host thread feeds it. The enqueuing calls return at once, or, when the queue is
/// full, as soon as it has room; they allocate nothing. Kernels, memory, events and the arrays behind the
/// spans of arguments belong to the caller and must live until the work that uses them is done.
class Stream {
public:
  /// Drops what has not begun (a pending wait included), and returns when what has begun is done.
  virtual ~Stream() = default;
  virtual void launch(const Kernel &kernel, const KernelArguments &arguments) = 0;
  /// The two ranges must not overlap.
  virtual void copy(void *to, const void *from, uint64_t bytes) = 0;
  /// Signals when all work enqueued before it is done.
  virtual void signal(Event &event, uint64_t value) = 0;
  /// Work enqueued after it begins once the event has reached `value`.
  virtual void wait(Event &event, uint64_t value) = 0;
  /// Writes monotonicNanoseconds() as they are when all work enqueued before it is done.
  virtual void stamp(int64_t &nanoseconds) = 0;
  /// Blocks the host until all work enqueued so far is done. The first error of that work, if any.
  virtual absl::Status synchronize() = 0;
};

/// Machine code that a device has taken in for generated kernels, which it outlives.
class DeviceCode {
public:
  virtual ~DeviceCode() = default;
};

class Device {
public:
  virtual ~Device() = default;
  virtual const std::string &name() const = 0;
  /// What its kernels are chosen for; an executable names the same (executable Target).
  virtual const std::string &instructionSet() const = 0;

  /// ResourceExhausted, naming the bytes, when they cannot be had.
  virtual absl::StatusOr<std::unique_ptr<Memory>> allocate(uint64_t bytes) = 0;
  virtual absl::StatusOr<std::unique_ptr<Event>> createEvent() = 0;
  virtual absl::StatusOr<std::unique_ptr<Stream>> createStream() = 0;
  /// Takes in an executable's object (executable KernelObject). InvalidArgument when it is none that the
  /// device takes, FailedPrecondition when the system does not let it.
  virtual absl::StatusOr<std::unique_ptr<DeviceCode>> loadCode(std::string_view object) = 0;
  /// A call that names a symbol needs the code that defines it. InvalidArgument when the code does not, or
  /// the call does not fit the kernel's signature; Unimplemented when there is no such kernel.
  virtual absl::StatusOr<std::unique_ptr<Kernel>> createKernel(const KernelCall &call,
                                                               const DeviceCode *code) = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICE_DEVICE_H
