//===- TrainCommand.h - weft train ----------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRAINCOMMAND_H
#define WEFT_TOOLS_WEFT_TRAINCOMMAND_H

#include "CLI/App.hpp"

namespace weft {

void addTrainCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_TRAINCOMMAND_H
