//===- Casts.h - Conversions of element type ------------------------------===//
//
// cast changes the declared type. Between float types it keeps the float64 value: rounding is the caller's
// choice (Rounding.h). bitcast reinterprets the 32 bits of f32 and i32.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_CASTS_H
#define WEFT_KERNELS_REFERENCE_CASTS_H

#include "kernels/reference/Tensor.h"

namespace weft::reference {

/// Float to i32 or i64: truncation toward zero, saturating, NaN to 0. Anything to i1: not equal 0 (NaN is 1).
/// Integer to a narrower integer: its low bits. Integer to float: the nearest double.
absl::StatusOr<Tensor> cast(const Tensor &x, DType to);

/// i32 to f32 or f32 to i32, bit by bit; an f32 operand is first rounded to f32. NaN keeps being NaN, its
/// payload may change.
absl::StatusOr<Tensor> bitcast(const Tensor &x, DType to);

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_CASTS_H
