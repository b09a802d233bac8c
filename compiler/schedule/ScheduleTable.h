//===- ScheduleTable.h - A schedule in the terminal -----------------------===//
//
// A line for each rank, time to the right: each action stands where it starts. Where the line would be longer
// than the terminal, all ranks go on below. What is printed reads back as a schedule's ranks.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_SCHEDULE_SCHEDULETABLE_H
#define WEFT_COMPILER_SCHEDULE_SCHEDULETABLE_H

#include "passes/pipeline/schedules/Timeline.h"

namespace weft {

struct TableStyle {
  int width = 110; ///< columns of the terminal
  bool hasColors = false;
};

std::string scheduleTable(const schedules::PipelineSchedule &schedule, const schedules::Timeline &timeline,
                          const schedules::ActionTimes &times, const TableStyle &style);

} // namespace weft

#endif // WEFT_COMPILER_SCHEDULE_SCHEDULETABLE_H
