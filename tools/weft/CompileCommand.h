//===- CompileCommand.h - weft compile ----------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILECOMMAND_H
#define WEFT_TOOLS_WEFT_COMPILECOMMAND_H

#include "CLI/App.hpp"

namespace weft {

void addCompileCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMPILECOMMAND_H
