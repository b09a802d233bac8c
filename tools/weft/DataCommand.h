//===- DataCommand.h - weft data prepare|inspect|show ---------------------===//
//
// Makes datasets of text, and looks into them.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_DATACOMMAND_H
#define WEFT_TOOLS_WEFT_DATACOMMAND_H

namespace CLI {
class App;
}

namespace weft {

void addDataCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_DATACOMMAND_H
