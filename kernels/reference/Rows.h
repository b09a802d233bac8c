//===- Rows.h - Walking a strided index space row by row ------------------===//
//
// The one loop nest behind every copy and reduction: visits an index space in row-major order and hands out
// its innermost dimension as (start, count, stride), so that the inner loop is a plain one.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_ROWS_H
#define WEFT_KERNELS_REFERENCE_ROWS_H

#include <cstdint>
#include <vector>

namespace weft::reference {

/// Calls row(start, count, stride) for each row of `shape`: its elements lie at start + i * stride, i <
/// count. `strides` has one entry per dimension. A scalar is one row of one element; a space with a 0 has no
/// rows.
template <typename Row>
void forEachRow(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides, int64_t offset,
                const Row &row) {
  for (int64_t size : shape)
    if (size == 0)
      return;
  if (shape.empty())
    return row(offset, int64_t{1}, int64_t{1});
  size_t inner = shape.size() - 1;
  std::vector<int64_t> index(inner, 0);
  for (;;) {
    row(offset, shape[inner], strides[inner]);
    size_t d = inner;
    for (; d > 0; --d) {
      offset += strides[d - 1];
      if (++index[d - 1] < shape[d - 1])
        break;
      offset -= strides[d - 1] * shape[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0)
      return;
  }
}

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_ROWS_H
