//===- TraceOnRanks.h - One trace of all ranks ----------------------------===//
//
// Every rank times the same step; rank 0 writes one file that ui.perfetto.dev and chrome://tracing open, and
// tells how each rank was used. Threads of one process read one clock. Processes may have clocks of their
// own, so each counts from when it left a barrier before the step: the ranks' zeros are then apart by no more
// than the longest that any rank was in that barrier, which the file says.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_TRACEONRANKS_H
#define WEFT_RUNTIME_TRAIN_TRACEONRANKS_H

#include "runtime/comm/Communicator.h"
#include "runtime/exec/RunTimes.h"

#include "absl/status/statusor.h"

#include <string>

namespace weft {

/// From where a rank's times count.
struct TraceClock {
  int64_t origin = 0;      ///< nanoseconds of this rank's monotonic clock
  int64_t uncertainty = 0; ///< the ranks' origins are apart by no more, in nanoseconds
  bool isShared = true;    ///< all ranks read one clock, and have one origin
};

/// All ranks call it right before the step that they time.
absl::StatusOr<TraceClock> startTraceClock(Communicator &communicator, bool isShared);

/// What a trace is of.
struct TraceSubject {
  std::string run; ///< the run's folder
  int64_t step = 0;
};

/// The trace of all ranks, and how they were used: a line for each, or, for more than kMostRankLines of them,
/// for those with the same place along the pipeline together. Both on rank 0 alone.
struct TraceReport {
  std::string file;
  std::string table;
};
inline constexpr int kMostRankLines = 16;

/// All ranks call it after the step.
absl::StatusOr<TraceReport> gatherTrace(Communicator &communicator, const Executable &executable,
                                        const RunTimes &times, const TraceClock &clock,
                                        const TraceSubject &subject);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_TRACEONRANKS_H
