//===- InterchangeCommands.h - weft ckpt import|export ---------------------===//
//
// Weights of the rest of the world become checkpoints, and checkpoints become what the rest of the world
// loads.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_INTERCHANGECOMMANDS_H
#define WEFT_TOOLS_WEFT_INTERCHANGECOMMANDS_H

#include "CLI/App.hpp"

namespace weft {

/// Adds both to the command `ckpt`, which is there.
void addInterchangeCommands(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_INTERCHANGECOMMANDS_H
