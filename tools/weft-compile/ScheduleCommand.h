//===- ScheduleCommand.h - weft schedule --------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILE_SCHEDULECOMMAND_H
#define WEFT_TOOLS_WEFT_COMPILE_SCHEDULECOMMAND_H

namespace weft {

/// `weft schedule ...` with its own arguments, the first of which is the word `schedule`. The exit code.
int runScheduleCommand(int argc, char **argv);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMPILE_SCHEDULECOMMAND_H
