//===- Reduce.h - Reductions and cumulative sums --------------------------===//
//
// Accumulation is in float64 (integers: wrapping at their width), in ascending order of the reduced indices.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_REDUCE_H
#define WEFT_KERNELS_REFERENCE_REDUCE_H

#include "kernels/reference/Shape.h"

namespace weft::reference {

/// Sum, Product, Max, Min: float, i32, i64; Max and Min of anything with NaN are NaN. And, Or: bitwise, i1,
/// i32, i64.
enum class Reduction { Sum, Max, Min, Product, And, Or };

/// The IR's spelling: sum, max, ...
std::string_view name(Reduction kind);
/// The kind of a spelling, or nothing.
std::optional<Reduction> reductionFromName(std::string_view name);

/// Reduces the listed dimensions (different, any order) away. Over no elements: 0, -inf or the smallest
/// integer, +inf or the largest, 1, all bits set (i1: 1), 0.
absl::StatusOr<Tensor> reduce(Reduction kind, const Tensor &x, Dimensions dimensions);

/// Inclusive sums along `dimension`; float, i32, i64.
absl::StatusOr<Tensor> cumulativeSum(const Tensor &x, int64_t dimension);

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_REDUCE_H
