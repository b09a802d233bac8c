//===- ScheduleCommand.h - weft schedule --------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_SCHEDULECOMMAND_H
#define WEFT_TOOLS_WEFT_SCHEDULECOMMAND_H

#include "CLI/App.hpp"

namespace weft {

void addScheduleCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_SCHEDULECOMMAND_H
