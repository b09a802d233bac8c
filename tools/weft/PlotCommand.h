//===- PlotCommand.h - weft plot ------------------------------------------===//
//
// Draws the loss curves of runs, from their metrics.jsonl, into an SVG file.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_PLOTCOMMAND_H
#define WEFT_TOOLS_WEFT_PLOTCOMMAND_H

namespace CLI {
class App;
}

namespace weft {

void addPlotCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_PLOTCOMMAND_H
