//===- ScheduleTrace.h - A planned schedule as a Perfetto trace -----------===//
//
// Trace events that ui.perfetto.dev opens: a track for each rank with its actions, and a counter of what it
// holds. Times count as milliseconds.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_SCHEDULE_SCHEDULETRACE_H
#define WEFT_COMPILER_SCHEDULE_SCHEDULETRACE_H

#include "passes/pipeline/schedules/Timeline.h"

namespace weft {

/// The text of a JSON file.
std::string scheduleTrace(const schedules::PipelineSchedule &schedule, const schedules::Timeline &timeline,
                          const schedules::ActionTimes &times);

} // namespace weft

#endif // WEFT_COMPILER_SCHEDULE_SCHEDULETRACE_H
