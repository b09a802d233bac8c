//===- Rounding.h - Rounding to the declared type -------------------------===//
//
// A declared type is what a value is rounded to. The reference keeps float64, so that a program can be run
// either exactly (casts between float types are the identity) or in the IR's types (roundTo after every op).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_ROUNDING_H
#define WEFT_KERNELS_REFERENCE_ROUNDING_H

#include "kernels/reference/Tensor.h"

namespace weft::reference {

/// The nearest value of the float type, ties to even, once (never through another type); subnormals are kept,
/// overflow gives infinity, NaN stays NaN. Integer types return the value as it is.
double roundToType(double value, DType type);

/// Rounds every value of a float tensor to `type`; its dtype stays. Integer tensors stay as they are.
void roundTo(Tensor &tensor, DType type);

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_ROUNDING_H
