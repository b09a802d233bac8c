//===- Shape.h - Moving values without changing them ----------------------===//
//
// Reshape, transpose, broadcast, slices, concatenation and padding. All are strided copies: a result's shape,
// and where each of its elements comes from.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_SHAPE_H
#define WEFT_KERNELS_REFERENCE_SHAPE_H

#include "kernels/reference/Tensor.h"

#include "absl/types/span.h"

namespace weft::reference {

using Dimensions = absl::Span<const int64_t>;

/// The same values in row-major order under another shape of as many elements.
absl::StatusOr<Tensor> reshape(const Tensor &x, Dimensions shape);

/// The result's dimension i is x's dimension permutation[i].
absl::StatusOr<Tensor> transpose(const Tensor &x, Dimensions permutation);

/// x's dimension i becomes the result's dimension dimensions[i] (all different, in any order); a size of 1
/// repeats, any other size must be equal; result dimensions that are not listed repeat.
absl::StatusOr<Tensor> broadcast(const Tensor &x, Dimensions shape, Dimensions dimensions);

/// The block of `sizes` at `offsets`, which must lie inside x.
absl::StatusOr<Tensor> slice(const Tensor &x, Dimensions offsets, Dimensions sizes);

/// The block of `sizes` at starts[i] + offsets[i], each clamped to [0, size of x - size of the block].
absl::StatusOr<Tensor> dynamicSlice(const Tensor &x, Dimensions starts, Dimensions offsets, Dimensions sizes);

/// x with the block that dynamicSlice gives replaced by `update`, which has x's element type and rank.
absl::StatusOr<Tensor> dynamicUpdateSlice(const Tensor &x, const Tensor &update, Dimensions starts,
                                          Dimensions offsets);

/// One after the other along `dimension`; all other dimensions and the element type are the same. At least
/// one.
absl::StatusOr<Tensor> concatenate(absl::Span<const Tensor> operands, int64_t dimension);

/// `low[i]` elements of `value` before and `high[i]` after dimension i, none negative. For integers, `value`
/// is one of the type.
absl::StatusOr<Tensor> pad(const Tensor &x, Dimensions low, Dimensions high, double value);

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_SHAPE_H
