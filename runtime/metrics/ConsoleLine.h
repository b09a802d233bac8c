//===- ConsoleLine.h - The line of a step on the terminal -----------------===//
//
// What an engineer wants to see of a step, on one line whose columns stay in place.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_METRICS_CONSOLELINE_H
#define WEFT_RUNTIME_METRICS_CONSOLELINE_H

#include "runtime/metrics/StepMetrics.h"

#include <string>

namespace weft {

/// `step 120/300  loss 3.4121  grad_norm 0.87  lr 3.0e-04  tok/s 5,310  mfu 41.2%  mem 1.21 GiB  eta 1m12s`,
/// without a newline. `val_loss` follows loss where it was measured; mfu is left out where it was not;
/// `data_wait 12%` stands before mem where steps waited for data for 1 % of their time or more.
std::string formatStepLine(const StepMetrics &metrics, int64_t totalSteps, double secondsLeft);

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_CONSOLELINE_H
