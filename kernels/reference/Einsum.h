//===- Einsum.h - The one contraction -------------------------------------===//
//
// "bsk,kn->bsn": each letter is a dimension, and every letter that is not in the result is summed, in float64
// and in ascending order. Two operands become one batched product [batch, m, k] x [batch, k, n] after sums
// over the letters that only one of them has and transpositions that make the innermost loop contiguous.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_EINSUM_H
#define WEFT_KERNELS_REFERENCE_EINSUM_H

#include "kernels/reference/Tensor.h"

#include "absl/types/span.h"

#include <string_view>

namespace weft::reference {

/// One or two float operands, of any float types; the result has type `resultType`. Letters are a-z and A-Z,
/// each at most once per operand, with one size throughout; each letter of the result is in an operand.
absl::StatusOr<Tensor> einsum(std::string_view equation, absl::Span<const Tensor> operands, DType resultType);

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_EINSUM_H
