//===- LowerBound.h - What no schedule can beat ---------------------------===//
//
// A lower bound on the span of every schedule of a shape, from three observations: a rank has its work;
// before its first and after its last backward can begin, it has only so much to do as it may hold; and what
// it started must pass the ranks behind it and come back. LowerBound.cpp proves each.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_LOWERBOUND_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_LOWERBOUND_H

#include "passes/pipeline/schedules/Timeline.h"

namespace weft::schedules {

/// No schedule of the shape (its lists are not read) whose ranks hold at most `heldLimit` chunks each, from F
/// to the end of W, has a shorter span.
double spanLowerBound(const PipelineSchedule &shape, const ActionTimes &times, int heldLimit);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_LOWERBOUND_H
