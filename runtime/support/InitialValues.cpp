#include "runtime/support/InitialValues.h"

#include "kernels/common/Philox.h"

#include <array>
#include <cmath>
#include <xxhash.h>

namespace weft {
namespace {

/// Coefficients from the highest power down.
template <size_t count> double polynomial(const std::array<double, count> &coefficients, double x) {
  double sum = 0;
  for (double coefficient : coefficients)
    sum = sum * x + coefficient;
  return sum;
}

// |p - 1/2| <= 0.425: a rational function of 0.425^2 - (p - 1/2)^2.
constexpr std::array<double, 8> kCenterAbove = {
    2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4, 4.5921953931549871457e+4,
    1.3731693765509461125e+4, 1.9715909503065514427e+3, 1.3314166789178437745e+2, 3.3871328727963666080e+0};
constexpr std::array<double, 8> kCenterBelow = {
    5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4, 2.1213794301586595867e+4,
    5.3941960214247511077e+3, 6.8718700749205790830e+2, 4.2313330701600911252e+1, 1.0};
// Beyond it, to exp(-25): a rational function of sqrt(-log(tail)) - 1.6.
constexpr std::array<double, 8> kTailAbove = {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                              2.41780725177450611770e-1, 1.27045825245236838258e+0,
                                              3.64784832476320460504e+0, 5.76949722146069140550e+0,
                                              4.63033784615654529590e+0, 1.42343711074968357734e+0};
constexpr std::array<double, 8> kTailBelow = {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                              1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                              6.89767334985100004550e-1, 1.67638483018380384940e+0,
                                              2.05319162663775882187e+0, 1.0};

} // namespace

double normalQuantile(double p) {
  double fromCenter = p - 0.5;
  if (std::fabs(fromCenter) <= 0.425) {
    double r = 0.180625 - fromCenter * fromCenter;
    return fromCenter * polynomial(kCenterAbove, r) / polynomial(kCenterBelow, r);
  }
  double r = std::sqrt(-std::log(fromCenter < 0 ? p : 1 - p)) - 1.6;
  return std::copysign(polynomial(kTailAbove, r) / polynomial(kTailBelow, r), fromCenter);
}

InitialValues::InitialValues(uint64_t seed, std::string_view name)
    : key(philoxKey(seed, 0, XXH64(name.data(), name.size(), 0))) {}

uint32_t InitialValues::bits(int64_t index) const {
  return philoxBlock(key, 0, static_cast<uint64_t>(index) / 4)[index % 4];
}

double InitialValues::uniform(int64_t index) const { return uniformFromBits(bits(index)); }

double InitialValues::normal(int64_t index) const { return normalQuantile((bits(index) + 0.5) * 0x1p-32); }

} // namespace weft
