//===- DataPrepareCommand.h - weft data prepare ---------------------------===//
//
// Makes a dataset of text.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_DATAPREPARECOMMAND_H
#define WEFT_TOOLS_WEFT_DATAPREPARECOMMAND_H

namespace CLI {
class App;
}

namespace weft {

void addDataPrepare(CLI::App &data);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_DATAPREPARECOMMAND_H
