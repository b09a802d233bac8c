//===- MatrixProduct.h - One single-threaded product by oneDNN ------------===//
//
// C = A B + beta C for float32 matrices given by their strides, on the calling thread alone: what the tiles
// of einsum, attention and cross-entropy are made of. Its bits are a function of shape, strides and
// instruction set. It keeps no state, so any number of threads may execute one object at once, and nothing is
// allocated by us (oneDNN's packing buffers come and go inside the call).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_MATRIXPRODUCT_H
#define WEFT_KERNELS_CPU_MATRIXPRODUCT_H

#include "absl/status/statusor.h"

#include <cstdint>

namespace weft::cpu {

/// Where the elements of a matrix lie: element (i, j) at i * row + j * column.
struct MatrixStrides {
  int64_t row = 0;
  int64_t column = 1;
};

/// True when oneDNN can read a rows x columns matrix in place: one stride is 1, the other spans that
/// dimension.
bool isAddressable(int64_t rows, int64_t columns, MatrixStrides strides);

class MatrixProduct {
public:
  /// A is m x k, B is k x n, C is m x n with column stride 1 and row stride `cRow` >= n. InvalidArgument when
  /// a matrix is not addressable or a size is negative.
  static absl::StatusOr<MatrixProduct> create(int64_t m, int64_t n, int64_t k, MatrixStrides a,
                                              MatrixStrides b, int64_t cRow);

  /// beta 0 overwrites C (which may be uninitialized), beta 1 adds to it. C overlaps neither A nor B.
  void execute(const float *a, const float *b, float *c, float beta = 0) const {
    execute(m, n, a, b, c, beta);
  }

  /// The same with fewer rows and columns of C: the tiles at the edge. rows <= m, columns <= n.
  void execute(int64_t rows, int64_t columns, const float *a, const float *b, float *c, float beta = 0) const;

private:
  MatrixProduct() = default;
  int64_t m = 0, n = 0, k = 0;
  char aOrder = 'N', bOrder = 'N';
  int64_t aLeading = 0, bLeading = 0, cLeading = 0;
};

/// The same as a function, for shapes known only at run time. The matrices must be addressable.
void multiply(int64_t m, int64_t n, int64_t k, const float *a, MatrixStrides aStrides, const float *b,
              MatrixStrides bStrides, float *c, int64_t cRow, float beta = 0);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_MATRIXPRODUCT_H
