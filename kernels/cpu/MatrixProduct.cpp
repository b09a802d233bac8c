//===- MatrixProduct.cpp - One single-threaded product by oneDNN ----------===//
//
// dnnl_sgemm is the kernel that oneDNN's own float32 products end in (gemm:jit), without a primitive, its
// memory objects and their bookkeeping. Of bfloat16 there is no such function: BFloat16Product.h has the
// primitives. Both divide work over the OpenMP team of their caller, so the team is made one thread: a
// setting of the calling thread only.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/MatrixProduct.h"

#include "kernels/cpu/BFloat16Product.h"
#include "kernels/cpu/Registry.h"

#include "oneapi/dnnl/dnnl.h"

#include <algorithm>

extern "C" void omp_set_num_threads(int);

namespace weft::cpu {
namespace {

/// The strides of a dimension of size 1 mean nothing, so they may be read as whatever oneDNN wants.
LyingMatrix describe(int64_t rows, int64_t columns, MatrixStrides strides) {
  if ((strides.column == 1 || columns == 1) && (strides.row >= columns || rows == 1))
    return {false, std::max<int64_t>({rows == 1 ? 1 : strides.row, columns, 1})};
  return {true, std::max<int64_t>({columns == 1 ? 1 : strides.column, rows, 1})};
}

/// Calls `product(left, right, leading stride of C)` unless nothing is summed.
template <typename Product>
void multiplyBy(int64_t m, int64_t n, int64_t k, MatrixStrides a, MatrixStrides b, float *c, int64_t cRow,
                float beta, const Product &product) {
  if (m == 0 || n == 0)
    return;
  if (k == 0) {
    if (beta == 0)
      for (int64_t row = 0; row < m; ++row)
        std::fill_n(c + row * cRow, n, 0.0f);
    return;
  }
  omp_set_num_threads(1);
  product(describe(m, k, a), describe(k, n, b), std::max(cRow, n));
}

} // namespace

bool isAddressable(int64_t rows, int64_t columns, MatrixStrides strides) {
  bool rowsLie = (strides.column == 1 || columns <= 1) && (strides.row >= columns || rows <= 1);
  bool columnsLie = (strides.row == 1 || rows <= 1) && (strides.column >= rows || columns <= 1);
  return rowsLie || columnsLie;
}

bool multipliesBFloat16() {
  std::optional<InstructionSet> set = instructionSetInUse();
  return set && *set >= InstructionSet::AVX512_BF16;
}

void multiply(int64_t m, int64_t n, int64_t k, const float *a, MatrixStrides aStrides, const float *b,
              MatrixStrides bStrides, float *c, int64_t cRow, float beta) {
  multiplyBy(m, n, k, aStrides, bStrides, c, cRow, beta,
             [&](LyingMatrix left, LyingMatrix right, int64_t leading) {
               auto order = [](LyingMatrix matrix) { return matrix.transposed ? 'T' : 'N'; };
               dnnl_sgemm(order(left), order(right), m, n, k, 1.0f, a, left.leading, b, right.leading, beta,
                          c, leading);
             });
}

void multiply(int64_t m, int64_t n, int64_t k, const BFloat16 *a, MatrixStrides aStrides, const BFloat16 *b,
              MatrixStrides bStrides, float *c, int64_t cRow, float beta) {
  multiplyBy(m, n, k, aStrides, bStrides, c, cRow, beta,
             [&](LyingMatrix left, LyingMatrix right, int64_t leading) {
               multiplyBFloat16(m, n, k, a, left, b, right, c, leading, beta != 0);
             });
}

} // namespace weft::cpu
