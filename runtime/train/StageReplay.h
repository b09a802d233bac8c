//===- StageReplay.h - What the order of a pipeline costs by itself -------===//
//
// A rank of a pipeline idles because of the order that was compiled, or because of how the step went: slow
// messages, actions that take longer than others. The measured order is replayed with each stage's mean times
// and messages that take none, which leaves the first: the bubble that the plan has at these times.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_STAGEREPLAY_H
#define WEFT_RUNTIME_TRAIN_STAGEREPLAY_H

#include "runtime/exec/RunTimes.h"

#include <optional>
#include <span>
#include <vector>

namespace weft {

/// One run of a stage: its forward (F), its backward of inputs (B), of weights (W), or of both (BW).
enum class StageAction : int32_t { F, B, W, BW };
struct StageRun {
  StageAction action = StageAction::F;
  int32_t stage = 0;
  int64_t microbatch = 0;
  int64_t nanoseconds = 0;
  bool operator==(const StageRun &) const = default;
};

/// The stages' runs of a rank, in order; none for a program without stages.
std::vector<StageRun> stageRuns(const RunTimes &times);

/// The share of the time from the start of its first run to the end of its last in which each rank runs
/// nothing, for the ranks of one pipeline. Absent when they wait for each other forever.
std::optional<std::vector<double>> replayedBubbles(std::span<const std::vector<StageRun>> ranks);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_STAGEREPLAY_H
