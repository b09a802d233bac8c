//===- ScheduleSvg.h - A schedule as a picture ----------------------------===//
//
// As in the papers: a row for each rank, a box for each action with its microbatch, colored by kind, chunks
// behind the first paler.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_SCHEDULE_SCHEDULESVG_H
#define WEFT_COMPILER_SCHEDULE_SCHEDULESVG_H

#include "passes/pipeline/schedules/Timeline.h"

namespace weft {

/// The text of an SVG file; the same schedule and times give the same bytes.
std::string scheduleSvg(const schedules::PipelineSchedule &schedule, const schedules::Timeline &timeline,
                        const schedules::ActionTimes &times);

} // namespace weft

#endif // WEFT_COMPILER_SCHEDULE_SCHEDULESVG_H
