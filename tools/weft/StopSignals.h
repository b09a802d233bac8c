//===- StopSignals.h - SIGTERM and SIGINT as a question -------------------===//
//
// The first signal is only noted: the trainer asks after each step, saves and ends. The second one ends the
// process at once, as if nobody listened.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_STOPSIGNALS_H
#define WEFT_TOOLS_WEFT_STOPSIGNALS_H

namespace weft {

/// From now on the first SIGTERM or SIGINT is noted.
void noteStopSignals();

/// Whether one came.
bool stopSignalCame();

} // namespace weft

#endif // WEFT_TOOLS_WEFT_STOPSIGNALS_H
