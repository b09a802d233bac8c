#include "tools/weft-trials/ElementwiseError.h"

#include "tools/weft-trials/RoundingError.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;

namespace weft::trials {
namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Units of u(A) that a function of the mathematics library may be off by.
constexpr double kFunctionError = 4.0;

/// One operand at one element.
struct Sample {
  double value, error;
};

/// What the op makes of its operands' errors, and how many u(A) it adds to the rounding to its type; a
/// negative number of them says that it does not round at all.
struct Propagated {
  double error, units;
};

/// The largest change of an increasing or decreasing function over the operand's interval.
template <typename Function> double overInterval(Function f, Sample x) {
  double y = f(x.value);
  return std::max(std::abs(f(x.value + x.error) - y), std::abs(f(x.value - x.error) - y));
}

template <typename Function> Propagated monotone(Function f, Sample x, double units) {
  return {x.error == 0.0 ? 0.0 : overInterval(f, x), units};
}

/// Of ops of one operand.
std::optional<Propagated> unaryError(Operation *op, Sample x) {
  using Result = std::optional<Propagated>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<nn::NegateOp, nn::AbsOp>([&](auto) { return Propagated{x.error, -1}; })
      .Case([&](nn::ExpOp) { return monotone([](double v) { return std::exp(v); }, x, kFunctionError); })
      .Case([&](nn::LogOp) {
        // The logarithm itself is off by units of its own size; near 1 the operand's rounding is what counts.
        return monotone([](double v) { return v < 0.0 ? -kInfinity : std::log(v); }, x, kFunctionError);
      })
      .Case([&](nn::SqrtOp) { return monotone([](double v) { return std::sqrt(std::max(v, 0.0)); }, x, 0); })
      .Case([&](nn::RsqrtOp) {
        return monotone([](double v) { return 1.0 / std::sqrt(std::max(v, 0.0)); }, x, 2);
      })
      .Case([&](nn::TanhOp) { return monotone([](double v) { return std::tanh(v); }, x, kFunctionError); })
      .Case([&](nn::SigmoidOp) {
        return monotone([](double v) { return 1.0 / (1.0 + std::exp(-v)); }, x, kFunctionError);
      })
      .Case([&](nn::ErfOp) { return monotone([](double v) { return std::erf(v); }, x, kFunctionError); })
      .Case<nn::SinOp, nn::CosOp>([&](auto) { return Propagated{std::min(x.error, 2.0), kFunctionError}; })
      .Case([&](nn::FloorOp) { return monotone([](double v) { return std::floor(v); }, x, -1); })
      .Case([&](nn::SignOp) {
        return monotone([](double v) { return v > 0.0 ? 1.0 : v < 0.0 ? -1.0 : 0.0; }, x, -1);
      })
      .Default([](Operation *) { return Result(); });
}

/// The largest change of x^y over both intervals, at whose corners it is.
double powerError(Sample x, Sample y) {
  double at = std::pow(x.value, y.value), worst = 0.0;
  if (x.error == 0.0 && y.error == 0.0)
    return 0.0;
  for (double base : {x.value - x.error, x.value + x.error})
    for (double exponent : {y.value - y.error, y.value + y.error})
      worst = std::max(worst, base > 0.0 ? std::abs(std::pow(base, exponent) - at) : kInfinity);
  return worst;
}

/// Of ops of two float operands.
std::optional<Propagated> binaryError(Operation *op, Sample x, Sample y) {
  using Result = std::optional<Propagated>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<nn::AddOp, nn::SubtractOp>([&](auto) { return Propagated{x.error + y.error, 0}; })
      .Case([&](nn::MultiplyOp) {
        // 0 times what may have left its type's range may be no number.
        if (std::isinf(x.error) || std::isinf(y.error))
          return Propagated{kInfinity, 0};
        return Propagated{times(std::abs(x.value), y.error) + times(std::abs(y.value), x.error) +
                              times(x.error, y.error),
                          0};
      })
      .Case([&](nn::DivideOp) {
        if (x.error == 0.0 && y.error == 0.0)
          return Propagated{0.0, 0};
        double nearest = std::abs(y.value) - y.error;
        return Propagated{nearest <= 0.0 ? kInfinity
                                         : (x.error + times(std::abs(x.value / y.value), y.error)) / nearest,
                          0};
      })
      .Case<nn::MaximumOp, nn::MinimumOp>([&](auto) { return Propagated{std::max(x.error, y.error), -1}; })
      .Case([&](nn::PowerOp) { return Propagated{powerError(x, y), 2 * kFunctionError}; })
      .Default([](Operation *) { return Result(); });
}

Sample sampleOf(const Bounded &operand, size_t index) {
  const Tensor &value = operand.value;
  return {isFloat(value.dtype) ? value.reals[index] : static_cast<double>(value.integers[index]),
          operand.error[index]};
}

/// Results of i1 and of integers: 1 where another value than the exact one may come out.
double uncertainty(Operation *op, ArrayRef<Sample> samples, DType from) {
  if (isa<nn::CompareOp>(op)) {
    double error = samples[0].error + samples[1].error;
    return error > 0.0 && !(std::abs(samples[0].value - samples[1].value) > error) ? 1.0 : 0.0;
  }
  if (isa<nn::IsFiniteOp>(op))
    return samples[0].error > 0.0 &&
                   !(std::abs(samples[0].value) + samples[0].error <= largestFinite(from)) &&
                   std::isfinite(samples[0].value)
               ? 1.0
               : 0.0;
  double worst = 0.0;
  for (Sample sample : samples)
    worst = std::max(worst, sample.error);
  return worst > 0.0 ? 1.0 : 0.0;
}

/// Of a float result.
std::optional<Propagated> floatError(Operation *op, ArrayRef<Sample> samples) {
  if (isa<nn::CastOp>(op))
    return Propagated{samples[0].error, 0};
  if (isa<nn::SelectOp>(op)) {
    Sample x = samples[1], y = samples[2];
    if (samples[0].error > 0.0)
      return Propagated{std::max(x.error, y.error) + std::abs(x.value - y.value), -1};
    return Propagated{samples[0].value != 0.0 ? x.error : y.error, -1};
  }
  if (samples.size() == 1)
    return unaryError(op, samples[0]);
  return samples.size() == 2 ? binaryError(op, samples[0], samples[1]) : std::nullopt;
}

double rounded(Propagated propagated, double value, DType type) {
  if (propagated.units < 0 || value == 0.0 || !std::isfinite(value))
    return propagated.error;
  DType accumulation = accumulationType(type);
  double units = propagated.units * unitRoundoff(accumulation) + unitRoundoff(type);
  double least = propagated.units >= kFunctionError ? smallestNormal(accumulation) : smallestSubnormal(type);
  return propagated.error + units * std::abs(value) + least;
}
} // namespace

std::optional<std::vector<double>> elementwiseErrors(Operation *op, ArrayRef<const Bounded *> operands,
                                                     const Tensor &result) {
  if (!op->hasTrait<OpTrait::Elementwise>())
    return std::nullopt;
  std::vector<double> errors(result.elements());
  for (size_t index = 0; index < errors.size(); ++index) {
    SmallVector<Sample, 3> samples;
    for (const Bounded *operand : operands)
      samples.push_back(sampleOf(*operand, index));
    if (!isFloat(result.dtype)) {
      errors[index] = uncertainty(op, samples, operands[0]->value.dtype);
      continue;
    }
    std::optional<Propagated> propagated = floatError(op, samples);
    if (!propagated)
      return std::nullopt;
    errors[index] = rounded(*propagated, result.reals[index], result.dtype);
  }
  return errors;
}

} // namespace weft::trials
