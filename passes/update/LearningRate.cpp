#include "passes/update/LearningRate.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <numbers>

using namespace mlir;

namespace weft {
using nn::Comparison;
using nn::ValueBuilder;

std::optional<LearningRateKind> parseLearningRateKind(StringRef name) {
  return llvm::StringSwitch<std::optional<LearningRateKind>>(name)
      .Case("constant", LearningRateKind::Constant)
      .Case("linear", LearningRateKind::Linear)
      .Case("cosine", LearningRateKind::Cosine)
      .Case("wsd", LearningRateKind::Wsd)
      .Case("inverse_sqrt", LearningRateKind::InverseSqrt)
      .Default(std::nullopt);
}

namespace {
/// (x - from) / length, between 0 and 1.
Value progress(ValueBuilder &b, Value x, double from, double length) {
  Value ratio = b.scale(b.addScalar(x, -from), 1.0 / std::max(length, 1.0));
  return b.minimum(b.maximum(ratio, b.splat(ratio, 0.0)), b.splat(ratio, 1.0));
}

/// The share of the peak after warmup, before the floor is applied; null for a constant 1.
Value decayShape(ValueBuilder &b, const LearningRateSchedule &schedule, Value t) {
  auto warmup = static_cast<double>(schedule.warmupSteps), steps = static_cast<double>(schedule.steps);
  switch (schedule.kind) {
  case LearningRateKind::Constant:
  case LearningRateKind::InverseSqrt:
    return {};
  case LearningRateKind::Linear: {
    Value p = progress(b, t, warmup, steps - warmup);
    return b.sub(b.splat(p, 1.0), p);
  }
  case LearningRateKind::Cosine: {
    Value p = progress(b, t, warmup, steps - warmup);
    return b.scale(b.addScalar(b.unary<nn::CosOp>(b.scale(p, std::numbers::pi)), 1.0), 0.5);
  }
  case LearningRateKind::Wsd: {
    auto decay = static_cast<double>(schedule.decaySteps);
    Value p = progress(b, t, steps - decay, decay);
    return b.sub(b.splat(p, 1.0), p);
  }
  }
  return {};
}
} // namespace

Value buildLearningRate(ValueBuilder &b, const LearningRateSchedule &schedule, Value done) {
  Type f64 = b.builder.getF64Type();
  Value t = b.addScalar(b.cast(done, f64), 1.0);
  Value one = b.splat(t, 1.0);
  Value share = one;
  if (schedule.kind == LearningRateKind::InverseSqrt) {
    auto reference = static_cast<double>(std::max<int64_t>(schedule.warmupSteps, 1));
    share = b.maximum(b.sqrt(b.div(b.splat(t, reference), t)), b.splat(t, schedule.minRatio));
    share = b.minimum(share, one);
  } else if (Value shape = decayShape(b, schedule, t)) {
    share = b.addScalar(b.scale(shape, 1.0 - schedule.minRatio), schedule.minRatio);
  }
  if (schedule.warmupSteps > 0) {
    auto warmup = static_cast<double>(schedule.warmupSteps);
    Value rising = b.scale(t, 1.0 / warmup);
    share = b.select(b.compare(Comparison::le, t, b.splat(t, warmup)), rising, share);
  }
  return b.cast(b.scale(share, schedule.peak), b.builder.getF32Type());
}

} // namespace weft
