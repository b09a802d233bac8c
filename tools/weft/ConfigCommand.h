//===- ConfigCommand.h - weft config check|show|explain|schema ------------===//
//
// Questions about run files: is this one right, what does it say once resolved, what does a key mean, what
// may an editor offer.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CONFIGCOMMAND_H
#define WEFT_TOOLS_WEFT_CONFIGCOMMAND_H

namespace CLI {
class App;
}

namespace weft {

void addConfigCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_CONFIGCOMMAND_H
