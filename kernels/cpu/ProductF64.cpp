//===- ProductF64.cpp - A float64 matrix product --------------------------===//
//
// A strip of B's columns is copied so that it is contiguous, then each row of C accumulates in registers'
// reach: the inner loop runs along a strip, which vectorizes without changing the order of any sum.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/ProductF64.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/ProductF64.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace weft::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kStrip = 64;  ///< columns at a time
constexpr int64_t kDepth = 128; ///< rows of B at a time: a strip of 64 KiB

void multiplyStrips(int64_t m, int64_t n, int64_t k, const double *a, MatrixStrides aStrides, const double *b,
                    MatrixStrides bStrides, double *c, int64_t cRow, double beta) {
  alignas(64) double strip[kDepth * kStrip];
  for (int64_t row = 0; row < m && beta == 0; ++row)
    std::fill_n(c + row * cRow, n, 0.0);
  for (int64_t column = 0; column < n; column += kStrip) {
    int64_t width = n - column < kStrip ? n - column : kStrip;
    for (int64_t depth = 0; depth < k; depth += kDepth) {
      int64_t height = k - depth < kDepth ? k - depth : kDepth;
      for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < width; ++j)
          strip[i * kStrip + j] = b[(depth + i) * bStrides.row + (column + j) * bStrides.column];
      for (int64_t row = 0; row < m; ++row) {
        double *HWY_RESTRICT out = c + row * cRow + column;
        for (int64_t i = 0; i < height; ++i) {
          const double factor = a[row * aStrides.row + (depth + i) * aStrides.column];
          const double *HWY_RESTRICT line = strip + i * kStrip;
          for (int64_t j = 0; j < width; ++j)
            out[j] += factor * line[j];
        }
      }
    }
  }
}

} // namespace
} // namespace weft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::cpu {
HWY_EXPORT(multiplyStrips);
void multiplyF64(int64_t m, int64_t n, int64_t k, const double *a, MatrixStrides aStrides, const double *b,
                 MatrixStrides bStrides, double *c, int64_t cRow, double beta) {
  HWY_DYNAMIC_DISPATCH(multiplyStrips)(m, n, k, a, aStrides, b, bStrides, c, cRow, beta);
}
} // namespace weft::cpu
#endif // HWY_ONCE
