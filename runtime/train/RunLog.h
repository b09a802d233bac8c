//===- RunLog.h - What a run says, on the terminal and in log.txt ---------===//
//
// A line goes to the terminal and, with the time, to the run's log. A log that can no longer be written (a
// full disk) is told once and does not stop the training: what must not be lost is in metrics.jsonl and in
// the checkpoints.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_RUNLOG_H
#define WEFT_RUNTIME_TRAIN_RUNLOG_H

#include "absl/status/statusor.h"

#include <string>
#include <string_view>

namespace weft {

class RunLog {
public:
  /// Appends to `path`. `terminal`: whether lines are also printed, as rank 0 does.
  static absl::StatusOr<RunLog> open(const std::string &path, bool terminal);
  /// Prints on the terminal alone.
  RunLog() = default;
  /// Says nothing anywhere.
  static RunLog silent();
  RunLog(RunLog &&other) noexcept;
  RunLog &operator=(RunLog &&other) noexcept;
  ~RunLog();

  /// On standard output, unless nobody reads it.
  void line(std::string_view text);
  /// On standard error.
  void warning(std::string_view text);
  /// On standard error of every rank, whether it prints or not, in one write.
  void report(std::string_view text);
  /// In the log alone.
  void note(std::string_view text) { append(text); }

private:
  void append(std::string_view text);
  /// Whether standard output takes a line. One that takes none for half a second (mpirun, while it ends a
  /// job, reads no more) is passed over until it does again: a run does not wait for whoever does not read.
  bool terminalTakes();

  std::string path;
  int descriptor = -1;
  bool terminal = true;
  bool isStalled = false;
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_RUNLOG_H
