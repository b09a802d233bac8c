//===- Profile.h - Where the time of a step goes --------------------------===//
//
// Runs one step watched, so each command is timed alone: the sum is somewhat longer than an unwatched step,
// the shares are what counts.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_PROFILE_H
#define WEFT_RUNTIME_TRAIN_PROFILE_H

#include "runtime/exec/Executor.h"

#include <functional>
#include <map>
#include <string>

namespace weft {

class Profile {
public:
  /// Calls `step`, which runs a program of the executor, and times its commands.
  absl::Status watch(Executor &executor, const std::function<absl::Status()> &step);

  bool empty() const { return rows.empty(); }

  /// By kernel, the longest first: calls, milliseconds, share.
  std::string table() const;

private:
  struct Row {
    int64_t calls = 0;
    double seconds = 0;
  };
  std::map<std::string, Row> rows;
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_PROFILE_H
