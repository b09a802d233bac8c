//===- Generate.h - Tensors from nothing ----------------------------------===//
//
// Constants, index ramps and counter-based random numbers.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_GENERATE_H
#define WEFT_KERNELS_REFERENCE_GENERATE_H

#include "kernels/reference/Tensor.h"

namespace weft::reference {

/// A tensor of one value; for integers, `value` is one of the type.
absl::StatusOr<Tensor> full(const TensorType &type, double value);

/// Each element is its index along `dimension`. Not of i1.
absl::StatusOr<Tensor> iota(const TensorType &type, int64_t dimension);

/// Uniform in [0, 1) on the grid of 2^-24, by kernels/common/Philox.h: step is an i64 scalar, sampleIds [b]
/// is i64, `shape` begins with b. An element depends on (seed, step, opId, its sample's id, its index in the
/// sample) alone.
absl::StatusOr<Tensor> randomUniform(const Tensor &step, const Tensor &sampleIds, std::vector<int64_t> shape,
                                     uint64_t seed, uint64_t opId);

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_GENERATE_H
