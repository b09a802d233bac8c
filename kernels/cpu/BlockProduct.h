//===- BlockProduct.h - Products of small blocks over packed panels -------===//
//
// The products of attention have a few dozen rows and a depth of one head: too small to pay for a library's
// packing and allocation at each call. Here B is packed once, into panels of a few columns, and multiplied
// by many blocks of A; a causal block leaves out, strip of rows by strip of rows, what its mask would clear.
// An element of C is summed in ascending order of the depth by fused multiply-adds, wherever it lies in its
// block: its bits do not depend on how rows and columns are cut into blocks.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_BLOCKPRODUCT_H
#define WEFT_KERNELS_CPU_BLOCKPRODUCT_H

#include "kernels/cpu/MatrixProduct.h"

#include <cstdint>

namespace weft::cpu {

/// Elements of the panels of a depth x columns matrix, for any instruction set. They lie on a 64-byte
/// boundary.
inline int64_t panelElements(int64_t depth, int64_t columns) { return depth * ((columns + 31) / 32 * 32); }

/// Packs B (depth x columns, column stride 1, rows `stride` apart).
void packPanels(const float *b, int64_t stride, int64_t depth, int64_t columns, float *panels);
void packPanels(const double *b, int64_t stride, int64_t depth, int64_t columns, double *panels);

/// Packs B (depth x columns), whose transpose has column stride 1 and rows `stride` apart.
void packTransposedPanels(const float *b, int64_t stride, int64_t depth, int64_t columns, float *panels);
void packTransposedPanels(const double *b, int64_t stride, int64_t depth, int64_t columns, double *panels);

/// Of each row of C, what it needs at least: [first[i], last[i]). Null: all. More may be computed.
struct RowRanges {
  const int32_t *first = nullptr;
  const int32_t *last = nullptr;
};

/// C (rows x columns, column stride 1) = A (rows x depth) B, or C + A B.
template <typename T> struct BlockProduct {
  int64_t rows, columns, depth;
  const T *a;
  MatrixStrides aStrides;
  const T *panels;
  T *c;
  int64_t cRow;
  bool accumulate = false;
  RowRanges neededColumns = {}; ///< columns of C that nobody needs are left as they are
  RowRanges neededDepth = {};   ///< A is 0 outside
};

void multiplyPanels(const BlockProduct<float> &product);
void multiplyPanels(const BlockProduct<double> &product);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_BLOCKPRODUCT_H
