//===- PlanPipeline.h - The stages and the schedule of a run ----------------===//
//
// From `parallel.pipeline` of a checked config to which layers each stage has and what each rank does. A
// schedule of the user's own is held against the ranks, stages and microbatches of the run.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_SCHEDULE_PLANPIPELINE_H
#define WEFT_COMPILER_SCHEDULE_PLANPIPELINE_H

#include "passes/pipeline/schedules/PipelineSchedule.h"
#include "runtime/config/StageLayout.h"

namespace weft {

struct PipelinePlan {
  schedules::PipelineSchedule schedule; ///< verified
  StageLayout layout;                   ///< as many stages as the schedule has
};

/// For a model of so many layers. INVALID_ARGUMENT with the key, what is wrong and what would work.
absl::StatusOr<PipelinePlan> planPipeline(const Config &config, int64_t layers);

} // namespace weft

#endif // WEFT_COMPILER_SCHEDULE_PLANPIPELINE_H
