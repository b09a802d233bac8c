//===- MatrixProduct.cpp - One single-threaded product by oneDNN ----------===//
//
// dnnl_sgemm is the kernel that oneDNN's own float32 products end in (gemm:jit), without a primitive, its
// memory objects and their bookkeeping. It divides work over the OpenMP team of its caller, so the team is
// made one thread: a setting of the calling thread only.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/MatrixProduct.h"

#include "absl/strings/str_cat.h"
#include "oneapi/dnnl/dnnl.h"

#include <algorithm>

extern "C" void omp_set_num_threads(int);

namespace weft::cpu {
namespace {

struct Operand {
  char order; ///< 'N' as it lies, 'T' transposed
  int64_t leading;
};

/// The strides of a dimension of size 1 mean nothing, so they may be read as whatever oneDNN wants.
Operand describe(int64_t rows, int64_t columns, MatrixStrides strides) {
  if ((strides.column == 1 || columns == 1) && (strides.row >= columns || rows == 1))
    return {'N', std::max<int64_t>({rows == 1 ? 1 : strides.row, columns, 1})};
  return {'T', std::max<int64_t>({columns == 1 ? 1 : strides.column, rows, 1})};
}

void product(int64_t m, int64_t n, int64_t k, Operand left, const float *a, Operand right, const float *b,
             float *c, int64_t cLeading, float beta) {
  if (m == 0 || n == 0)
    return;
  if (k == 0) {
    if (beta == 0)
      for (int64_t row = 0; row < m; ++row)
        std::fill_n(c + row * cLeading, n, 0.0f);
    return;
  }
  omp_set_num_threads(1);
  dnnl_sgemm(left.order, right.order, m, n, k, 1.0f, a, left.leading, b, right.leading, beta, c, cLeading);
}

} // namespace

bool isAddressable(int64_t rows, int64_t columns, MatrixStrides strides) {
  bool rowsLie = (strides.column == 1 || columns <= 1) && (strides.row >= columns || rows <= 1);
  bool columnsLie = (strides.row == 1 || rows <= 1) && (strides.column >= rows || columns <= 1);
  return rowsLie || columnsLie;
}

absl::StatusOr<MatrixProduct> MatrixProduct::create(int64_t m, int64_t n, int64_t k, MatrixStrides a,
                                                    MatrixStrides b, int64_t cRow) {
  if (m < 0 || n < 0 || k < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("matrix product: ", m, " x ", n, " x ", k, " is not a shape"));
  auto refuse = [](const char *name, int64_t rows, int64_t columns, MatrixStrides strides) {
    return absl::InvalidArgumentError(absl::StrCat("matrix product: ", name, ", ", rows, " x ", columns,
                                                   ", has strides ", strides.row, " and ", strides.column,
                                                   "; one must be 1, the other span that dimension"));
  };
  if (!isAddressable(m, k, a))
    return refuse("A", m, k, a);
  if (!isAddressable(k, n, b))
    return refuse("B", k, n, b);
  if (m > 1 && cRow < n)
    return refuse("C", m, n, {cRow, 1});
  MatrixProduct result;
  Operand left = describe(m, k, a), right = describe(k, n, b);
  result.m = m, result.n = n, result.k = k;
  result.aOrder = left.order, result.aLeading = left.leading;
  result.bOrder = right.order, result.bLeading = right.leading;
  result.cLeading = std::max({cRow, n, int64_t{1}});
  return result;
}

void MatrixProduct::execute(int64_t rows, int64_t columns, const float *a, const float *b, float *c,
                            float beta) const {
  product(rows, columns, k, {aOrder, aLeading}, a, {bOrder, bLeading}, b, c, cLeading, beta);
}

void multiply(int64_t m, int64_t n, int64_t k, const float *a, MatrixStrides aStrides, const float *b,
              MatrixStrides bStrides, float *c, int64_t cRow, float beta) {
  product(m, n, k, describe(m, k, aStrides), a, describe(k, n, bStrides), b, c,
          std::max({cRow, n, int64_t{1}}), beta);
}

} // namespace weft::cpu
