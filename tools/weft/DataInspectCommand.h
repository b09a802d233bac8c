//===- DataInspectCommand.h - weft data inspect ---------------------------===//
//
// Checks datasets and prints their figures.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_DATAINSPECTCOMMAND_H
#define WEFT_TOOLS_WEFT_DATAINSPECTCOMMAND_H

namespace CLI {
class App;
}

namespace weft {

void addDataInspect(CLI::App &data);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_DATAINSPECTCOMMAND_H
