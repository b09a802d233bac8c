//===- TrainExecutable.h - What `weft train` does with an executable ------===//
//
// Trials train as users do, with something put in the place of a part: ranks that die, a disk that forgets.
// They take executables, so that nothing is compiled in the process that is killed.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_TRAINEXECUTABLE_H
#define WEFT_TOOLS_WEFT_TRIALS_TRAINEXECUTABLE_H

#include "runtime/train/TrainRun.h"

#include <string>

namespace weft::trials {

/// A run of this executable under this name.
TrainRequest requestFor(const std::string &file, const std::string &name);
/// Trains, and says what went wrong. The exit status of `weft train`.
int train(const TrainRequest &request);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_TRAINEXECUTABLE_H
