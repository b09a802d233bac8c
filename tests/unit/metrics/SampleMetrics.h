//===- SampleMetrics.h - Records for the tests of metrics -----------------===//
//
// A record with every field set, and a fresh folder to write into.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_METRICS_SAMPLEMETRICS_H
#define WEFT_TESTS_UNIT_METRICS_SAMPLEMETRICS_H

#include "tests/unit/TestFolder.h"

#include "runtime/metrics/StepMetrics.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace weft {

inline StepMetrics sampleMetrics(int64_t step, double loss = 3.4121) {
  StepMetrics metrics;
  metrics.step = step;
  metrics.loss = loss;
  metrics.gradNorm = 0.87;
  metrics.learningRate = 3e-4;
  metrics.tokensPerSecond = 5310.4;
  metrics.mfu = 0.412;
  metrics.dataWait = 0.125;
  metrics.memoryBytes = 1299227607;
  metrics.residentBytes = 1310000000;
  metrics.consumedTokens = step * 8192;
  metrics.time = 1700000000.25;
  return metrics;
}

} // namespace weft

#endif // WEFT_TESTS_UNIT_METRICS_SAMPLEMETRICS_H
