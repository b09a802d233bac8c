#include "compiler/validate/Fingerprint.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {
namespace {

using interpret::Tensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Rounding of the few operations that lie between two levels of one value.
constexpr double kRounding = 1e-9;

/// What is not finite counts as a number of its own.
double finite(double value) {
  return std::isnan(value) ? 3.0 : std::isinf(value) ? std::copysign(7.0, value) : value;
}

/// In [-1, 1), a function of (index, which).
double weight(uint64_t index, uint64_t which) {
  uint64_t z = (index + 1) * 0x9E3779B97F4A7C15u + which * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>(static_cast<int64_t>(z ^ (z >> 31))) * 0x1p-63;
}

template <typename Visit> void forEachNumber(const Tensor &value, Visit visit) {
  for (size_t i = 0; i < value.reals.size(); ++i)
    visit(i, finite(value.reals[i]));
  for (size_t i = 0; i < value.integers.size(); ++i)
    visit(i, static_cast<double>(value.integers[i]));
}

} // namespace

double normOf(const Tensor &value) {
  double squares = 0;
  forEachNumber(value, [&](size_t, double number) { squares += number * number; });
  return std::sqrt(squares);
}

Fingerprint fingerprintOf(const Tensor &value) {
  Fingerprint print{value.shape, normOf(value), {0, 0}};
  for (uint64_t which = 0; which < print.projections.size(); ++which)
    forEachNumber(value,
                  [&](size_t i, double number) { print.projections[which] += weight(i, which) * number; });
  return print;
}

bool Fingerprint::matches(const Fingerprint &other, double largest) const {
  if (shape != other.shape)
    return false;
  double allowed = kRounding * std::max(norm, 1e-6 * largest);
  for (size_t which = 0; which < projections.size(); ++which)
    if (!(std::abs(projections[which] - other.projections[which]) <= allowed))
      return false;
  return std::abs(norm - other.norm) <= allowed;
}

double tensorError(const Tensor &a, const Tensor &b, double largest) {
  if (a.shape != b.shape || a.reals.size() != b.reals.size() || a.integers != b.integers)
    return kInfinity;
  double squares = 0;
  for (size_t i = 0; i < a.reals.size(); ++i) {
    double left = a.reals[i], right = b.reals[i];
    if (left == right || (std::isnan(left) && std::isnan(right)))
      continue;
    if (!std::isfinite(left) || !std::isfinite(right))
      return kInfinity;
    squares += (left - right) * (left - right);
  }
  if (squares == 0)
    return 0;
  return std::sqrt(squares) / std::max(normOf(b), 1e-6 * largest);
}

} // namespace weft
