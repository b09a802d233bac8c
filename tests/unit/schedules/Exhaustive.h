//===- Exhaustive.h - The shortest span of all schedules ------------------===//
//
// By trying them all, for small shapes and whole times: what a lower bound is held against. It knows nothing
// of that bound.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_SCHEDULES_EXHAUSTIVE_H
#define WEFT_TESTS_UNIT_SCHEDULES_EXHAUSTIVE_H

#include "passes/pipeline/schedules/PipelineSchedule.h"

namespace weft::schedules {

/// Whole times of a chunk's actions (at least 1 each), and of a transfer.
struct WholeTimes {
  int forward = 1, backwardInput = 1, backwardWeight = 1, transfer = 0;
};

/// The shortest span of all schedules of the shape in which no rank holds more than `heldLimit` chunks, or
/// `known`, the span of one of them, if none is shorter.
int shortestSpan(const PipelineSchedule &shape, const WholeTimes &times, int heldLimit, int known);

} // namespace weft::schedules

#endif // WEFT_TESTS_UNIT_SCHEDULES_EXHAUSTIVE_H
