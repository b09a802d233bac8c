//===- InitialValues.h - Random numbers of a named tensor -----------------===//
//
// A parameter's initial values are functions of (seed, name, linear index in the whole tensor): the same bits
// on every mesh, in any order, from any part. Philox with step 0 and sample 0, keyed by the hash of the name.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_INITIALVALUES_H
#define WEFT_RUNTIME_SUPPORT_INITIALVALUES_H

#include <cstdint>
#include <string_view>

namespace weft {

class InitialValues {
public:
  /// The op id is xxh64 (seed 0) of the name's bytes.
  InitialValues(uint64_t seed, std::string_view name);

  /// Uniform in [0, 1) on the grid of 2^-24.
  double uniform(int64_t index) const;
  /// Standard normal: the quantile of (bits + 1/2) * 2^-32, so within 6.4 and symmetric about 0.
  double normal(int64_t index) const;

private:
  uint32_t bits(int64_t index) const;

  uint64_t key;
};

/// The standard normal quantile for 2^-34 <= p <= 1 - 2^-34, with a relative error below 1e-15 (Wichura,
/// "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37, 1988).
double normalQuantile(double p);

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_INITIALVALUES_H
