//===- ListScheduling.h - Greedy schedules in simulated time --------------===//
//
// Ranks take what is ready, in the order of time: forwards and input gradients first, weight gradients where
// nothing else is ready or where no more may be held. Forwards and input gradients either follow a given
// order, or (one chunk a rank) a preference between the two.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_LISTSCHEDULING_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_LISTSCHEDULING_H

#include "passes/pipeline/schedules/Timeline.h"

#include <optional>

namespace weft::schedules {

struct ListPolicy {
  enum class Prefer { Backward, Forward, InTurn };

  int heldLimit = 1; ///< forwards that a rank may hold, in chunks
  Prefer prefer = Prefer::Backward;
  /// A W is not begun when something that matters more is known to come within this part of its time.
  double patience = 0;
  /// By rank, the forwards that may run before the first input gradient; empty: the limit.
  std::vector<int> warmUp;
};

/// Places W's into the order of F and B that `order` holds. None when the limit leaves no way on.
std::optional<PipelineSchedule> placeWeights(const PipelineSchedule &order, const ActionTimes &times,
                                             const ListPolicy &policy);

/// A schedule of one chunk a rank, by the policy alone.
PipelineSchedule scheduleByList(int ranks, int microbatches, const ActionTimes &times,
                                const ListPolicy &policy);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_LISTSCHEDULING_H
