//===- Timeline.h - When each action of a schedule starts -----------------===//
//
// Ranks run their lists in order; an action starts once its rank is free and what it needs has arrived: F(s)
// needs F(s-1), B(s) needs F(s) and B(s+1), W(s) needs B(s). A value that changes ranks takes the transfer
// time on its way and costs neither rank anything. Linear in the number of actions.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_TIMELINE_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_TIMELINE_H

#include "passes/pipeline/schedules/PipelineSchedule.h"

#include "absl/status/statusor.h"

namespace weft::schedules {

/// Times of one microbatch in a rank's whole share of the model, in any one unit: with v chunks an action
/// takes 1/v of them. So schedules of different chunks compare on the same model.
struct ActionTimes {
  double forward = 1, backwardInput = 1, backwardWeight = 1;
  double transfer = 0; ///< from one rank to another, whatever the chunk

  double work() const { return forward + backwardInput + backwardWeight; }
  /// How long an action of this kind takes on a rank of so many chunks.
  double of(ActionKind kind, int chunks) const {
    double whole = kind == ActionKind::Forward          ? forward
                   : kind == ActionKind::BackwardInput  ? backwardInput
                   : kind == ActionKind::BackwardWeight ? backwardWeight
                                                        : backwardInput + backwardWeight;
    return whole / chunks;
  }
};

struct Timeline {
  std::vector<std::vector<double>> start; ///< of each action, in the order of the schedule's lists
  std::vector<double> spans; ///< of each rank, from the start of its first to the end of its last
  std::vector<double> busy;  ///< of each rank, the sum of its actions
  double makespan = 0;       ///< from the first start on any rank to the last end on any

  /// The longest span: what the literature's formulae count.
  double span() const;
  /// The span less the work of the busiest rank.
  double bubble() const;
};

/// FAILED_PRECONDITION when the ranks wait for each other in a circle, which the message shows, or for
/// something that no list holds. Actions must be in range and on the rank of their stage.
absl::StatusOr<Timeline> simulate(const PipelineSchedule &schedule, const ActionTimes &times);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_TIMELINE_H
