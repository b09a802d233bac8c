//===- ConsoleLine.cpp - The line of a step on the terminal ---------------===//
//
// The step is padded to the width of the last one; everything else has about the same width at every step.
//
//===----------------------------------------------------------------------===//
#include "runtime/metrics/ConsoleLine.h"

#include "runtime/metrics/HumanFormat.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <cmath>

namespace weft {

/// A smaller part of the time is not worth a word.
static constexpr double kShownWait = 0.01;

std::string formatStepLine(const StepMetrics &metrics, int64_t totalSteps, double secondsLeft) {
  std::string total = absl::StrCat(totalSteps);
  std::string line = absl::StrFormat("step %*d/%s  loss %.4f", static_cast<int>(total.size()), metrics.step,
                                     total, metrics.loss);
  if (metrics.valLoss)
    absl::StrAppendFormat(&line, "  val_loss %.4f", *metrics.valLoss);
  absl::StrAppendFormat(&line, "  grad_norm %.2f  lr %.1e  tok/s %s", metrics.gradNorm, metrics.learningRate,
                        formatCount(std::llround(metrics.tokensPerSecond)));
  if (metrics.mfu)
    absl::StrAppendFormat(&line, "  mfu %.1f%%", *metrics.mfu * 100);
  if (metrics.dataWait && *metrics.dataWait >= kShownWait)
    absl::StrAppendFormat(&line, "  data_wait %.0f%%", *metrics.dataWait * 100);
  absl::StrAppendFormat(&line, "  mem %s  eta %s", formatBytes(metrics.memoryBytes),
                        formatDuration(secondsLeft));
  return line;
}

} // namespace weft
