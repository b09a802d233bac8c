//===- Anomaly.h - Losses that are not finite, and losses that jump -------===//
//
// A step whose gradients are not finite changes nothing but scalars, and every kernel gives the same bits
// again: so the step is run once more, watched, and the first command in program order that gave an infinity
// or a NaN is named; of several ranks, that of the rank where it comes first, which for those of a pipeline
// is a matter of logical time. Spikes are found against the mean of the last losses.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_ANOMALY_H
#define WEFT_RUNTIME_TRAIN_ANOMALY_H

#include "runtime/comm/Communicator.h"
#include "runtime/config/Config.h"
#include "runtime/data/TrainingData.h"
#include "runtime/exec/Executor.h"
#include "runtime/train/StepProgram.h"
#include "runtime/train/VariableState.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The first command that gave a value that is not finite.
struct FirstNonFinite {
  std::string location;
  std::string kernel;
  uint32_t microbatch = kNone; ///< kNone in an action that runs once
  double value = 0;
  int64_t order = 0; ///< when it ran, in logical time
};

/// Runs the step again on the inputs that are still there, from `before`. Absent when every value of this
/// rank is finite. All ranks call it. `startTimes`: of this rank's part (LogicalTime.h).
absl::StatusOr<std::optional<FirstNonFinite>> findFirstNonFinite(Executor &executor, StepProgram &step,
                                                                 const ScalarState &before,
                                                                 const std::vector<int64_t> &startTimes);

/// The rank on which a value that is not finite comes first in logical time; of several the lowest, and rank
/// 0 where all is finite. All ranks call it, each with what it found.
absl::StatusOr<int> rankOfFirst(Communicator &communicator, const std::optional<FirstNonFinite> &mine);

/// `model.layers.3.mlp (einsum, microbatch 1) gave nan`.
std::string describe(const FirstNonFinite &first);

/// The samples of a step (from 0), or of one microbatch of a data rank in it: `samples 88 to 95: corpus:
/// document 3, ...`.
std::string describeSamples(const TrainingData &data, const Config &config, int64_t step, uint32_t microbatch,
                            int64_t dataRank = 0);

/// The first element of a float tensor that is not finite.
std::optional<double> firstNonFinite(const TensorType &type, const void *data);

/// Keeps the last losses of train.spike.window.
class SpikeDetector {
public:
  SpikeDetector(const SpikeConfig &config, std::vector<double> losses);
  /// The mean of the window if `loss` is a spike against it. Takes the loss into the window.
  std::optional<double> add(double loss);
  const std::vector<double> &losses() const { return window; }

private:
  SpikeConfig config;
  std::vector<double> window; ///< oldest first
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_ANOMALY_H
