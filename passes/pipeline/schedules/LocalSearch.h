//===- LocalSearch.h - Small changes that shorten a schedule --------------===//
//
// One action of one rank moves a few places, where its rank's order and memory allow it; the change stays
// when the span does not grow. What is tried is drawn from a fixed seed, and how often is a number.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_LOCALSEARCH_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_LOCALSEARCH_H

#include "passes/pipeline/schedules/Timeline.h"

namespace weft::schedules {

/// Tries `trials` changes of a valid schedule in which backwards are split, or fewer once the span is `goal`.
/// The result is valid, holds at most `heldLimit` chunks a rank, and is not slower.
PipelineSchedule improve(PipelineSchedule schedule, const ActionTimes &times, int heldLimit, double goal,
                         int trials);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_LOCALSEARCH_H
