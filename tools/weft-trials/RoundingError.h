//===- RoundingError.h - What one rounding costs ----------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_ROUNDINGERROR_H
#define WEFT_TOOLS_WEFT_TRIALS_ROUNDINGERROR_H

#include "kernels/common/Types.h"

#include <cmath>

namespace weft::trials {

/// Half the distance from 1 to the next number.
inline double unitRoundoff(DType type) {
  switch (type) {
  case DType::BF16:
    return 0x1p-8;
  case DType::F16:
    return 0x1p-11;
  case DType::F32:
    return 0x1p-24;
  default:
    return 0x1p-53;
  }
}
inline double smallestSubnormal(DType type) {
  switch (type) {
  case DType::BF16:
    return 0x1p-133;
  case DType::F16:
    return 0x1p-24;
  case DType::F32:
    return 0x1p-149;
  default:
    return 0x1p-1074;
  }
}
inline DType accumulationType(DType type) { return type == DType::F64 ? DType::F64 : DType::F32; }
inline double smallestNormal(DType accumulation) { return accumulation == DType::F64 ? 0x1p-1022 : 0x1p-126; }

/// x y, with 0 for 0 times infinity: a bound of 0 stays 0.
inline double times(double x, double y) { return x == 0.0 || y == 0.0 ? 0.0 : x * y; }

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_ROUNDINGERROR_H
