//===- Accumulate.h - Sums and extremes over registers --------------------===//
//
// The inner loops of reductions, over register arrays (ElementwiseLoops.h). Their order is fixed: an
// accumulator meets its values one after the other, and a run is folded in 64 lanes, then the lanes by
// halves.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_ACCUMULATE_H
#define WEFT_KERNELS_CPU_ACCUMULATE_H

#include "kernels/common/ElementwiseOps.h"

#include <cstdint>

namespace weft::cpu {

enum class Combination { Sum, Maximum, Minimum };

/// accumulators[i] = combine(accumulators[i], values[i]); the arrays do not overlap.
using AccumulateLoop = void (*)(void *accumulators, const void *values, int64_t count);

inline constexpr int64_t kFoldLanes = kReductionLanes;
/// Folds `count` (1 to kFoldLanes) accumulators into the first.
using FoldLoop = void (*)(void *accumulators, int64_t count);

/// `type` is f32, f64, i32 or i64; NaN wins over numbers in maxima and minima.
AccumulateLoop findAccumulateLoop(Combination combination, DType type);
FoldLoop findFoldLoop(Combination combination, DType type);

/// Sum of squares in float64 of `count` stored floats, in 16 lanes.
double sumOfSquares(DType type, const void *values, int64_t count);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_ACCUMULATE_H
