//===- Generators.h - The schedules of the literature, by name ------------===//
//
// Each writes the compute actions of every rank for any number of ranks and microbatches, or says what would
// work. Names are the literature's; the order of a schedule is a function of its shape alone, never of times.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_GENERATORS_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_GENERATORS_H

#include "passes/pipeline/schedules/PipelineSchedule.h"
#include "runtime/support/ScheduleShape.h"

#include "absl/status/statusor.h"

#include <string_view>

namespace weft::schedules {

struct ScheduleKind : ScheduleDemands {
  StageLayout layout;
  PipelineSchedule (*generate)(const ScheduleShape &shape); ///< of a shape that checkShape accepts
};

/// In the order in which they were published.
const std::vector<ScheduleKind> &scheduleKinds();

/// NOT_FOUND with the known names.
absl::StatusOr<ScheduleKind> findScheduleKind(std::string_view name);

/// The named schedule, complete and without a circle.
absl::StatusOr<PipelineSchedule> generateSchedule(std::string_view name, const ScheduleShape &shape);

/// All forwards, then all backwards (arXiv:1811.06965).
PipelineSchedule gpipe(const ScheduleShape &shape);
/// As many forwards as ranks lie behind, then a backward after each forward (arXiv:2006.09503).
PipelineSchedule oneForwardOneBackward(const ScheduleShape &shape);
/// 1F1B over several chunks a rank, in groups of microbatches (arXiv:2104.04473).
PipelineSchedule interleaved(const ScheduleShape &shape);
/// 1F1B with W set free, holding as much as 1F1B's first rank (arXiv:2401.10241).
PipelineSchedule zeroBubbleH1(const ScheduleShape &shape);
/// The same with twice the warm-up, so that nobody waits (arXiv:2401.10241).
PipelineSchedule zeroBubbleH2(const ScheduleShape &shape);
/// Two chunks there and back, no bubble at the memory of 1F1B (arXiv:2401.10241).
PipelineSchedule zeroBubbleV(const ScheduleShape &shape);
/// Half and a third of that memory (arXiv:2405.15362).
PipelineSchedule vHalf(const ScheduleShape &shape);
PipelineSchedule vMin(const ScheduleShape &shape);
/// DualPipe cut in half, for one copy of the parameters a rank (DeepSeek, DualPipe).
PipelineSchedule dualPipeV(const ScheduleShape &shape);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_GENERATORS_H
