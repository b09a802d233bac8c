//===- Profile.h - Where the time of a step goes --------------------------===//
//
// The times of one run of a program, added up by kernel.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_PROFILE_H
#define WEFT_RUNTIME_TRAIN_PROFILE_H

#include "runtime/exec/RunTimes.h"

#include <string>

namespace weft {

/// By kernel, the longest first: calls, milliseconds, share.
std::string profileTable(const Executable &executable, const RunTimes &times);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_PROFILE_H
