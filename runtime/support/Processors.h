//===- Processors.h - How much of the machine a process may use -----------===//
//
// The processors of the process's affinity mask: what launchers and containers leave it, which may be fewer
// than the machine has.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_PROCESSORS_H
#define WEFT_RUNTIME_SUPPORT_PROCESSORS_H

#include <cstdint>
#include <string>

namespace weft {

/// At least 1.
int64_t availableProcessors();

/// Their numbers, as 0,1,4: equal for processes that may use the same.
std::string processorList();

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_PROCESSORS_H
