//===- LogicalTime.h - What comes first, on the ranks of a pipeline -------===//
//
// The ranks of a pipeline run side by side, and one uses what another has computed. Here each run of an
// action has a time, such that on whatever rank a command stands, what it reads was computed at an earlier
// time: Lamport's clock, in which every command takes one unit and waits take none. It is read off the parts,
// so it is the same in every run. Without a pipeline a time is the number of commands before.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_LOGICALTIME_H
#define WEFT_RUNTIME_EXECUTABLE_LOGICALTIME_H

#include "runtime/executable/Executable.h"

#include <vector>

namespace weft {

/// By part, then by item of the schedule of the program of this index: the time at which the item's first
/// command runs; its others follow at the next times. Where ranks would wait for ever, as they do not in what
/// the compiler writes, they go on without waiting.
std::vector<std::vector<int64_t>> startTimesOf(const std::vector<Executable> &parts, size_t program);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_LOGICALTIME_H
