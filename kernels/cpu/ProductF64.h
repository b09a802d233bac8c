//===- ProductF64.h - A float64 matrix product ----------------------------===//
//
// oneDNN has no float64 products; float64 programs check others, so this one is short rather than fast. Each
// element is summed in ascending order of k, one rounding an addition and one a product.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_PRODUCTF64_H
#define WEFT_KERNELS_CPU_PRODUCTF64_H

#include "kernels/cpu/MatrixProduct.h"

namespace weft::cpu {

/// C (m x n, column stride 1) = A (m x k) B (k x n) + beta C, any strides; beta is 0 (C may be uninitialized)
/// or 1.
void multiplyF64(int64_t m, int64_t n, int64_t k, const double *a, MatrixStrides aStrides, const double *b,
                 MatrixStrides bStrides, double *c, int64_t cRow, double beta = 0);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_PRODUCTF64_H
