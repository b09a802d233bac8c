//===- AxisTicks.cpp - Round numbers along an axis ------------------------===//
//
// The step is the smallest round one that gives at most the wanted number of ticks.
//
//===----------------------------------------------------------------------===//
#include "runtime/metrics/AxisTicks.h"

#include "runtime/metrics/HumanFormat.h"

#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

std::string label(double value, int decimals) {
  return decimals > 0 ? absl::StrFormat("%.*f", decimals, value) : formatCount(std::llround(value));
}

int decimalsOfStep(double step) { return std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9))); }

} // namespace

std::vector<Tick> linearTicks(double low, double high, int wanted) {
  double power = std::pow(10, std::floor(std::log10((high - low) / wanted)));
  double step = 10 * power;
  for (double factor : {1.0, 2.0, 5.0})
    if ((high - low) / (factor * power) <= wanted) {
      step = factor * power;
      break;
    }
  std::vector<Tick> ticks;
  double slack = step * 1e-9;
  double first = std::ceil((low - slack) / step);
  for (double i = first; i * step <= high + slack; ++i)
    ticks.push_back({i * step, label(i * step, decimalsOfStep(step))});
  return ticks;
}

std::vector<Tick> logarithmicTicks(double low, double high, int wanted) {
  double decades = std::log10(high / low);
  bool onlyPowers = decades * 3 > wanted;
  std::vector<Tick> ticks;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
    for (double factor : {1.0, 2.0, 5.0}) {
      double value = factor * power;
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9) && (factor == 1 || !onlyPowers))
        ticks.push_back({value, label(value, decimalsOfStep(power))});
    }
  return ticks;
}

} // namespace weft
