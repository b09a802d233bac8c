//===- ScheduleText.h - Schedules as people write them --------------------===//
//
// One line or more for each rank, with its actions in order; blanks mean nothing, so the table that
// `weft schedule show` prints reads back. `#` starts a comment.
//
//     stages 2            # default: one for each rank
//     layout loop         # or v; default loop
//     microbatches 2
//     rank 0 | 0F0 0F1         0BW0 0BW1
//     rank 1 |     1F0 1BW0 1F1 1BW1
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_SCHEDULETEXT_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_SCHEDULETEXT_H

#include "passes/pipeline/schedules/PipelineSchedule.h"
#include "runtime/support/ScheduleShape.h"

#include "absl/status/statusor.h"

#include <string_view>

namespace weft::schedules {

/// INVALID_ARGUMENT with `FILE:LINE:COLUMN: what`; the schedule's name is `file`. Actions are in range and on
/// the rank of their stage; the rest is verifySchedule's.
absl::StatusOr<PipelineSchedule> parseSchedule(std::string_view text, const std::string &file);

/// The text that reads back as the schedule; its name stands in a comment.
std::string printSchedule(const PipelineSchedule &schedule);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_SCHEDULETEXT_H
