//===- Dump.h - An executable as text -------------------------------------===//
//
// What people read to see what programs do: target, memory plan, variables, and each program's schedule
// and commands with names instead of indices. Deterministic, one line per item.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_DUMP_H
#define WEFT_RUNTIME_EXECUTABLE_DUMP_H

#include "runtime/executable/Executable.h"

#include <string>

namespace weft {

/// All parts of a job: what is common, then each part, under a line of its own where there are several. They
/// must have passed verify().
std::string dump(const std::vector<Executable> &parts);

/// "P FB0 FB1 U" as the actions' names with their microbatches: `prepare forward_backward.0
/// forward_backward.1 update`.
std::string dumpSchedule(const Program &program);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_DUMP_H
