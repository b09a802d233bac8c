//===- EvalCommand.h - weft eval ----------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_EVALCOMMAND_H
#define WEFT_TOOLS_WEFT_EVALCOMMAND_H

#include "CLI/App.hpp"

namespace weft {

void addEvalCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_EVALCOMMAND_H
