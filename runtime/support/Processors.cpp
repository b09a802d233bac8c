//===- Processors.cpp - How much of the machine a process may use ---------===//
//
// More than 1024 processors do not fit the mask that is asked for, and then one is what is known.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/Processors.h"

#include <algorithm>
#include <sched.h>

namespace weft {

int64_t availableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

std::string processorList() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string list;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0)
    return list;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &set))
      list += (list.empty() ? "" : ",") + std::to_string(processor);
  return list;
}

} // namespace weft
