//===- VerifySchedule.h - Whether a list that anyone wrote is right -------===//
//
// Complete: every stage runs each microbatch forward once and backward once (B and W, or BW). In order: each
// kind of a stage in ascending microbatch order, because messages between two stages are received in the
// order in which they are sent, and gradients and losses are added up in that order; W after its B. Without a
// circle: the ranks never wait for each other. A schedule that passes completes.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_VERIFYSCHEDULE_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_VERIFYSCHEDULE_H

#include "passes/pipeline/schedules/PipelineSchedule.h"

#include "absl/status/status.h"

namespace weft::schedules {

/// INVALID_ARGUMENT or FAILED_PRECONDITION (a circle) with what is wrong, where, and the remedy; actions of a
/// rank are counted from 1. Linear in the number of actions, whatever the lists hold.
absl::Status verifySchedule(const PipelineSchedule &schedule);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_VERIFYSCHEDULE_H
