//===- GenerateCommand.h - weft generate ----------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_GENERATECOMMAND_H
#define WEFT_TOOLS_WEFT_GENERATECOMMAND_H

#include "CLI/App.hpp"

namespace weft {

void addGenerateCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_GENERATECOMMAND_H
