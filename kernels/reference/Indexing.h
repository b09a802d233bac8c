//===- Indexing.h - Gather, scatter-add, top-k ----------------------------===//
//
// Rows by index. Out of range is defined, never undefined: a gather reads 0 there, a scatter drops the row.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_INDEXING_H
#define WEFT_KERNELS_REFERENCE_INDEXING_H

#include "kernels/reference/Tensor.h"

#include <utility>

namespace weft::reference {

/// table [v, ...], indices [...] i32 or i64 -> [indices..., ...]: rows of the table; an index out of [0, v)
/// reads 0.
absl::StatusOr<Tensor> gather(const Tensor &table, const Tensor &indices);

/// indices [...] i32 or i64, updates [indices..., ...] -> [rows, ...]: from zeros, each update row is added
/// to the row of its index, in ascending order of the position in `indices`; out of range is dropped. Not of
/// i1.
absl::StatusOr<Tensor> scatterAdd(const Tensor &indices, const Tensor &updates, int64_t rows);

/// x [..., n] -> (values [..., k], indices [..., k] i32), descending, equal values by ascending index, NaN
/// last; 0 <= k <= n < 2^31.
absl::StatusOr<std::pair<Tensor, Tensor>> topK(const Tensor &x, int64_t k);

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_INDEXING_H
