//===- ScheduleReport.h - The figures of schedules ------------------------===//
//
// What a schedule costs, beside what the literature says of it; of one schedule with its ranks, and of all
// schedules of a shape in one table.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_SCHEDULE_SCHEDULEREPORT_H
#define WEFT_COMPILER_SCHEDULE_SCHEDULEREPORT_H

#include "passes/pipeline/schedules/Generators.h"
#include "passes/pipeline/schedules/Timeline.h"

#include <optional>
#include <span>

namespace weft {

/// `4 ranks, 8 stages (v), 8 microbatches; F 1, B 1, W 1, transfer 0`.
std::string describeShape(const schedules::PipelineSchedule &schedule, const schedules::ActionTimes &times);

/// Span, bubble, formula, and a line for each rank. `lowerBound` is auto's; `peakBytes` what each rank needs
/// in all, if it is known.
std::string scheduleFigures(const schedules::PipelineSchedule &schedule, const schedules::Timeline &timeline,
                            const schedules::ActionTimes &times, std::optional<double> lowerBound,
                            std::span<const uint64_t> peakBytes = {});

/// A line for each schedule of the literature and for what auto finds with `heldLimit` microbatches (of a
/// rank's whole share); one that cannot be has its reason instead of figures.
std::string compareSchedules(const schedules::ScheduleShape &shape, const schedules::ActionTimes &times,
                             double heldLimit);

} // namespace weft

#endif // WEFT_COMPILER_SCHEDULE_SCHEDULEREPORT_H
