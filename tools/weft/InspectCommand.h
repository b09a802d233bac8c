//===- InspectCommand.h - weft inspect ----------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_INSPECTCOMMAND_H
#define WEFT_TOOLS_WEFT_INSPECTCOMMAND_H

#include "CLI/App.hpp"

namespace weft {

void addInspectCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_INSPECTCOMMAND_H
