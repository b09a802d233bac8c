//===- LearningRate.h - Learning-rate schedules as nn ops -------------------===//
#ifndef WEFT_PASSES_UPDATE_LEARNINGRATE_H
#define WEFT_PASSES_UPDATE_LEARNINGRATE_H

#include "dialects/nn/ValueBuilder.h"

#include <optional>

namespace weft {

enum class LearningRateKind { Constant, Linear, Cosine, Wsd, InverseSqrt };
std::optional<LearningRateKind> parseLearningRateKind(llvm::StringRef name);

struct LearningRateSchedule {
  LearningRateKind kind = LearningRateKind::Constant;
  double peak = 0.0;     ///< the learning rate after warmup
  double minRatio = 0.0; ///< floor, as a share of the peak
  int64_t steps = 0;     ///< optimizer steps of the run
  int64_t warmupSteps = 0;
  int64_t decaySteps = 0; ///< wsd alone: length of the final decay
};

/// The learning rate (f32 scalar) of the optimizer step that comes after `done` (i64 scalar) steps. With t =
/// done + 1: t / warmup of the peak while t <= warmup; then, with p = (t - warmup) / (steps - warmup) in [0,
/// 1],
///   constant 1; linear 1 - p; cosine (1 + cos(pi p)) / 2; wsd 1, and over the last `decaySteps` linear to 0;
/// each scaled to end at minRatio; inverse_sqrt max(sqrt(warmup / t), minRatio), warmup at least 1. Computed
/// in float64.
mlir::Value buildLearningRate(nn::ValueBuilder &b, const LearningRateSchedule &schedule, mlir::Value done);

} // namespace weft

#endif // WEFT_PASSES_UPDATE_LEARNINGRATE_H
