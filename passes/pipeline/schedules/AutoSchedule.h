//===- AutoSchedule.h - The best schedule for given times and memory ------===//
//
// The schedules of the literature as seeds, list scheduling by several policies, then small changes of the
// best for as long as they help. The result is a function of the request: no clock decides when to stop.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_AUTOSCHEDULE_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_AUTOSCHEDULE_H

#include "passes/pipeline/schedules/Timeline.h"

#include "absl/status/statusor.h"

namespace weft::schedules {

struct AutoRequest {
  int ranks = 1;
  int microbatches = 1;
  int chunks = 1;    ///< of each rank; 2: there and back (v)
  int heldLimit = 1; ///< forwards that a rank may hold, in chunks
  ActionTimes times;
};

struct AutoSchedule {
  PipelineSchedule schedule;
  double span = 0;
  double lowerBound = 0; ///< on the span of every schedule of this shape within the limit
  std::string found;     ///< what the search began from
};

/// INVALID_ARGUMENT with what would work.
absl::StatusOr<AutoSchedule> searchSchedule(const AutoRequest &request);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_AUTOSCHEDULE_H
