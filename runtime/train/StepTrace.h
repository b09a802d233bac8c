//===- StepTrace.h - What a rank did in a step, as a trace shows it -------===//
//
// The schedule of one run as trace events, one for each item, named as plans name them: 0F3 is the forward of
// stage 0 for microbatch 3. A rank's trace is text, so that ranks whose programs differ need not know each
// other's. Beside it, the sums that say how well the rank was used.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_STEPTRACE_H
#define WEFT_RUNTIME_TRAIN_STEPTRACE_H

#include "runtime/exec/RunTimes.h"

#include <string>
#include <string_view>

namespace weft {

/// How a rank spent a run, in nanoseconds.
struct RankUse {
  int64_t start = 0;       ///< of its first item
  int64_t end = 0;         ///< of its last
  int64_t exchanging = 0;  ///< in collectives and messages, waits for other ranks included
  int64_t busy = 0;        ///< in all other commands
  int64_t computing = 0;   ///< in forwards and backwards
  int64_t computeSpan = 0; ///< from the start of its first forward or backward to the end of its last

  /// The share of computeSpan in which no forward or backward ran.
  double bubble() const;
};

/// 0F3, `0F.send 3`, prepare, `forward_backward 3`.
std::string itemName(const Program &program, const ScheduleItem &item);

/// The categories of a trace event, by what the action is called and what it runs: F, B, W, BW (forward,
/// backward of inputs, of weights, of both), message, collective, or update for all that a step does once.
/// forward_backward, which has no stages, is `F,BW`.
std::string_view categoryOf(const Executable &executable, const Program &program, const Action &action);

RankUse useOf(const Executable &executable, const RunTimes &times);

/// "rank 3 (pipeline 1 of 4, data 0 of 2)": the rank's place along each direction that has more than one.
std::string rankTitle(const Mesh &mesh, int64_t rank);

/// The rank's track: trace events, one a line, with commas between them. Times count from `origin`, in
/// nanoseconds of the monotonic clock.
std::string traceEvents(const Executable &executable, const RunTimes &times, int64_t rank, int64_t origin);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_STEPTRACE_H
