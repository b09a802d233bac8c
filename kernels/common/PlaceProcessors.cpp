#include "kernels/common/PlaceProcessors.h"

#include <sched.h>

namespace weft {
namespace {

thread_local int processorOfThread = -1; ///< on which the calling thread was told to run
thread_local cpu_set_t before;           ///< where it might run before

} // namespace

PlaceProcessors::PlaceProcessors(int places) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (places < 2 || ::sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) != places)
    return;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &set))
      processors.push_back(processor);
}

void PlaceProcessors::run(int place) const {
  if (processors.empty() || processorOfThread == processors[static_cast<size_t>(place)])
    return;
  if (processorOfThread < 0 && ::sched_getaffinity(0, sizeof(before), &before) != 0)
    return;
  processorOfThread = processors[static_cast<size_t>(place)];
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processorOfThread, &set);
  ::sched_setaffinity(0, sizeof(set), &set); // only speed depends on it
}

void PlaceProcessors::leave() {
  if (processorOfThread < 0)
    return;
  processorOfThread = -1;
  ::sched_setaffinity(0, sizeof(before), &before);
}

} // namespace weft
