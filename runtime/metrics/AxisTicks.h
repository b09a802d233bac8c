//===- AxisTicks.h - Round numbers along an axis --------------------------===//
//
// Ticks at multiples of 1, 2 or 5 times a power of ten; on a logarithmic axis at those numbers themselves.
// Labels have just the digits that tell neighbors apart.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_METRICS_AXISTICKS_H
#define WEFT_RUNTIME_METRICS_AXISTICKS_H

#include <string>
#include <vector>

namespace weft {

struct Tick {
  double value;
  std::string label;
};

/// Ticks inside [low, high], low < high, about `wanted` of them.
std::vector<Tick> linearTicks(double low, double high, int wanted);

/// Ticks inside [low, high], 0 < low < high: 1, 2 and 5 times powers of ten, or only the powers when those
/// are many.
std::vector<Tick> logarithmicTicks(double low, double high, int wanted);

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_AXISTICKS_H
