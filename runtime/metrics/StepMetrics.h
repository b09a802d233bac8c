//===- StepMetrics.h - What is known about one step -----------------------===//
//
// The record that the trainer makes, metrics.jsonl holds line by line, TensorBoard shows and the plot draws.
// Names and order of the keys are those of the run folder's documentation; a line is one JSON object, and
// reading it back gives the same numbers bit for bit. A number that is not finite is null in JSON and reads
// back as NaN.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_METRICS_STEPMETRICS_H
#define WEFT_RUNTIME_METRICS_STEPMETRICS_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

struct StepMetrics {
  int64_t step = 0;              ///< steps done, from 1
  double loss = 0;               ///< cross-entropy per target token, nats
  std::optional<double> valLoss; ///< the same over held-out tokens, where it was measured
  double gradNorm = 0;           ///< before clipping
  double learningRate = 0;       ///< of this step
  double tokensPerSecond = 0;
  std::optional<double> mfu;                          ///< model FLOP/s over the peak of the machine, 0 to 1
  std::optional<double> dataWait;                     ///< part of the time that steps waited for data, 0 to 1
  int64_t memoryBytes = 0;                            ///< peak of the memory plan
  int64_t residentBytes = 0;                          ///< anonymous and shared memory of this process
  int64_t consumedTokens = 0;                         ///< since step 1
  double time = 0;                                    ///< seconds since 1970-01-01 UTC
  std::vector<std::pair<std::string, double>> others; ///< further metrics under names of their own
};

/// All numbers of `metrics` but the step, by their names in metrics.jsonl and in its order.
std::vector<std::pair<std::string, double>> namedValues(const StepMetrics &metrics);

/// One line of metrics.jsonl, with its newline.
std::string jsonLine(const StepMetrics &metrics);

/// The record of a line. Errors say what is wrong, without the name of the file.
absl::StatusOr<StepMetrics> parseJsonLine(std::string_view line);

/// All records of a metrics.jsonl, steps ascending. Errors name file and line. A last line without a newline
/// is what a killed run leaves of a write: it is left out.
absl::StatusOr<std::vector<StepMetrics>> readMetrics(const std::string &path);

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_STEPMETRICS_H
