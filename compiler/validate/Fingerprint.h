//===- Fingerprint.h - A value, remembered in a few numbers -----------------===//
//
// Two runs of a program have thousands of values; to ask whether a value of one was seen in the other, each
// is kept as its norm and two random projections. Values that differ in more than rounding differ in these,
// but for a set of measure zero.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_VALIDATE_FINGERPRINT_H
#define WEFT_COMPILER_VALIDATE_FINGERPRINT_H

#include "compiler/interpret/Values.h"

#include <array>

namespace weft {

struct Fingerprint {
  std::vector<int64_t> shape;
  double norm = 0;
  std::array<double, 2> projections = {0, 0};

  /// Equal up to rounding, where `largest` is the norm of the largest value around.
  bool matches(const Fingerprint &other, double largest) const;
};

Fingerprint fingerprintOf(const interpret::Tensor &value);

/// ||a - b|| / max(||b||, 1e-6 x largest); infinite where shapes, integers or what is not finite differ.
double tensorError(const interpret::Tensor &a, const interpret::Tensor &b, double largest);
double normOf(const interpret::Tensor &value);

} // namespace weft

#endif // WEFT_COMPILER_VALIDATE_FINGERPRINT_H
