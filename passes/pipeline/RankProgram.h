//===- RankProgram.h - What one pipeline rank runs of a step --------------------===//
//
// Writes the program of a rank: prepare, the actions of its stages and their messages in the order of the
// schedule, and its part of the update with the exchanges of it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_RANKPROGRAM_H
#define WEFT_PASSES_PIPELINE_RANKPROGRAM_H

#include "passes/pipeline/StepPlan.h"
#include "passes/pipeline/UpdatePlan.h"

namespace weft {

/// What is written for every rank, from one step.
struct StepParts {
  const StepPlan &plan;
  const UpdatePlan &update;
  HoldersOf holders;
  /// By rank.
  const std::vector<std::vector<schedules::PipelineEvent>> &events;
};

/// Writes the program of `rank` at the end of `module`.
void writeRankProgram(mlir::ModuleOp module, const StepParts &parts, int rank);

} // namespace weft

#endif // WEFT_PASSES_PIPELINE_RANKPROGRAM_H
