//===- ModelCommand.h - weft model ----------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILE_MODELCOMMAND_H
#define WEFT_TOOLS_WEFT_COMPILE_MODELCOMMAND_H

namespace weft {

/// `weft model ...` with its own arguments, the first of which is the word `model`. The exit code.
int runModelCommand(int argc, char **argv);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMPILE_MODELCOMMAND_H
