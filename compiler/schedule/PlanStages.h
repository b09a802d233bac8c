//===- PlanStages.h - The stages of a run's pipeline ------------------------===//
//
// From `parallel.pipeline` of a checked config to the layers that each stage has. A schedule of the user's
// own is held against the ranks, microbatches and stages of the run; where the layout is auto, it says how
// many stages there are.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_SCHEDULE_PLANSTAGES_H
#define WEFT_COMPILER_SCHEDULE_PLANSTAGES_H

#include "runtime/config/StageLayout.h"

namespace weft {

/// For a model of so many layers. INVALID_ARGUMENT with the key, what is wrong and what would work; what
/// reading the schedule's file says.
absl::StatusOr<StageLayout> planStages(const Config &config, int64_t layers);

} // namespace weft

#endif // WEFT_COMPILER_SCHEDULE_PLANSTAGES_H
