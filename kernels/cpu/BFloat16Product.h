//===- BFloat16Product.h - oneDNN's product of bfloat16 matrices ----------===//
#ifndef WEFT_KERNELS_CPU_BFLOAT16PRODUCT_H
#define WEFT_KERNELS_CPU_BFLOAT16PRODUCT_H

#include "kernels/cpu/MatrixProduct.h"

namespace weft::cpu {

/// How a matrix lies: its rows, or its columns where it is transposed, are `leading` elements apart.
struct LyingMatrix {
  bool transposed;
  int64_t leading;
};

/// C (m x n, rows `cLeading` apart) = A B, or C + A B, with the OpenMP team of the calling thread. No size is
/// 0.
void multiplyBFloat16(int64_t m, int64_t n, int64_t k, const BFloat16 *a, LyingMatrix left, const BFloat16 *b,
                      LyingMatrix right, float *c, int64_t cLeading, bool adds);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_BFLOAT16PRODUCT_H
