//===- RunTimes.h - When a stream ran what a schedule says ----------------===//
//
// Takes the times of one run of a program: of each item of its schedule, and of each command in it. All room
// is made before, the executor fills it by stamps in the stream, so a run that is timed waits for nobody and
// allocates nothing: its times are those at which the stream came there, not those of the host that feeds it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXEC_RUNTIMES_H
#define WEFT_RUNTIME_EXEC_RUNTIMES_H

#include "runtime/executable/Executable.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// One item of a schedule, in nanoseconds of the monotonic clock (runtime/device/Device.h).
struct ItemTimes {
  ScheduleItem item;
  int64_t start = 0;
  std::span<const int64_t> ends; ///< of the action's commands, in order

  int64_t end() const { return ends.empty() ? start : ends.back(); }
  /// Between the ends of the command before it and of itself.
  int64_t of(size_t command) const { return ends[command] - (command == 0 ? start : ends[command - 1]); }
};

class RunTimes {
public:
  /// Makes room for a run of `program`, which must outlive it.
  explicit RunTimes(const Program &program) : source(&program) {
    size_t count = 0;
    for (const ScheduleItem &item : program.schedule)
      count += 1 + program.actions[item.action].commandCount;
    stamps.resize(count);
  }

  const Program &program() const { return *source; }
  /// What a run writes, in the order of the schedule: of each item its start, then the ends of its commands.
  std::span<int64_t> room() { return stamps; }

  /// The items in the order in which they ran. What they say counts after a run that succeeded.
  std::vector<ItemTimes> items() const {
    std::vector<ItemTimes> all;
    std::span<const int64_t> left = stamps;
    for (const ScheduleItem &item : source->schedule) {
      const size_t commands = source->actions[item.action].commandCount;
      all.push_back({item, left.front(), left.subspan(1, commands)});
      left = left.subspan(1 + commands);
    }
    return all;
  }

private:
  const Program *source;
  std::vector<int64_t> stamps;
};

} // namespace weft

#endif // WEFT_RUNTIME_EXEC_RUNTIMES_H
