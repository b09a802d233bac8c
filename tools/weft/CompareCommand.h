//===- CompareCommand.h - weft compare ----------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPARECOMMAND_H
#define WEFT_TOOLS_WEFT_COMPARECOMMAND_H

#include "CLI/App.hpp"

namespace weft {

void addCompareCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMPARECOMMAND_H
