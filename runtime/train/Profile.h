//===- Profile.h - Where the time of a step goes --------------------------===//
//
// The times of one run of a program, added up by kernel.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_PROFILE_H
#define WEFT_RUNTIME_TRAIN_PROFILE_H

#include "runtime/exec/RunTimes.h"
#include "runtime/train/MachineRates.h"

#include <string>

namespace weft {

/// By kernel, the longest first: calls, milliseconds, share; the rates of its products and of its memory
/// traffic (kernels/common/KernelCost.h), and what share of this rank's limit that is: of `limits.flops`
/// where it is made of products, else of the memory's. More than 100 % of the memory is a cache's doing.
/// Closes with the kernel that would gain the step most at its limit.
std::string profileTable(const Executable &executable, const RunTimes &times, const MachineRates &limits);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_PROFILE_H
