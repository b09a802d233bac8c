#include "kernels/reference/Rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::reference {
namespace {

/// Rounds to `fraction` bits after the leading one, exponents from `minExponent` (subnormals below) to
/// `maxExponent`. Scaling by powers of two is exact here, since the narrow formats lie well inside double's
/// range.
double roundToFormat(double value, int fraction, int minExponent, int maxExponent) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent = std::max(std::ilogb(value), minExponent);
  double rounded = std::ldexp(std::nearbyint(std::ldexp(value, fraction - exponent)), exponent - fraction);
  if (std::fabs(rounded) >= std::ldexp(1.0, maxExponent + 1))
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

} // namespace

double roundToType(double value, DType type) {
  switch (type) {
  case DType::BF16:
    return roundToFormat(value, 7, -126, 127);
  case DType::F16:
    return roundToFormat(value, 10, -14, 15);
  case DType::F32:
    return static_cast<double>(static_cast<float>(value));
  default:
    return value;
  }
}

void roundTo(Tensor &tensor, DType type) {
  for (double &value : tensor.reals)
    value = roundToType(value, type);
}

} // namespace weft::reference
