//===- ForwardedCommands.h - weft schedule, weft model ---------------------===//
//
// Commands that are the compiler's: they need its view of a program.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_FORWARDEDCOMMANDS_H
#define WEFT_TOOLS_WEFT_FORWARDEDCOMMANDS_H

#include "CLI/App.hpp"

namespace weft {

void addScheduleCommand(CLI::App &app);
void addModelCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_FORWARDEDCOMMANDS_H
