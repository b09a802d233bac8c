//===- AttentionRows.h - The row-wise arithmetic of a block of scores -----===//
//
// Between the two products of a block, attention works on rows of scores: softcap, mask, online softmax, and
// in the backward the gradient of the scores. Whole vectors are worked on, from the first to the last column
// that a row sees; elsewhere its weight is exactly 0. Instantiated for float and double; dispatched to the
// instruction set in use.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_ATTENTIONROWS_H
#define WEFT_KERNELS_CPU_ATTENTIONROWS_H

#include <cstdint>

namespace weft::cpu {

/// Scores of `rows` queries and `columns` keys. Rows begin on vectors and are `stride` elements apart: at
/// least 16 more than `columns`.
template <typename T> struct ScoreBlock {
  T *scores;
  int64_t stride;
  int64_t rows;
  int64_t columns;
  T scale;   ///< the scores on entry are plain products q k^T: the first step multiplies them by this
  T softcap; ///< 0: none
  /// Row r sees none but columns [firstVisible[r], lastVisible[r]), both within [0, columns]; of these, with
  /// positions, those in [leastPosition[r], mostPosition[r]], and with segments, those of its own.
  const int32_t *firstVisible;
  const int32_t *lastVisible;
  const int32_t *positions; ///< of the columns, or null
  const int32_t *leastPosition;
  const int32_t *mostPosition;
  const int32_t *querySegments;
  const int32_t *keySegments; ///< of the columns, or null
  /// Weights, and gradients of products, are rounded to bfloat16 (in a block of float) for the products that
  /// follow. Sums are of what they were before.
  bool rounds = false;

  bool hidesElements() const { return positions || keySegments; }
};

/// One block of the online softmax. Turns scores into weights exp(score - maximum[r]), updates maximum and
/// sum per row, and rescales what `output` [rows, width] holds of earlier blocks. Before the first block
/// maximum is -infinity, and sum and output are 0.
void softmaxRows(const ScoreBlock<float> &block, float *maximum, float *sum, float *output, int64_t width);
void softmaxRows(const ScoreBlock<double> &block, double *maximum, double *sum, double *output,
                 int64_t width);

/// The backward of one block. On entry `block` holds scores and `gradient` (same stride) the gradients of the
/// weights; on return `block` holds the weights exp(score - lse[r]) and `gradient` that of the plain
/// products: weight * (gradient - dot[r]) * d softcap * scale. Both are 0 in columns that a row does not see.
void scoreGradientRows(const ScoreBlock<float> &block, float *gradient, const float *lse, const float *dot);
void scoreGradientRows(const ScoreBlock<double> &block, double *gradient, const double *lse,
                       const double *dot);

/// dot[r] = the product of row r of `a` and row r of `b`, of `width` elements each.
void dotRows(const float *a, int64_t aStride, const float *b, int64_t bStride, int64_t rows, int64_t width,
             float *dot);
void dotRows(const double *a, int64_t aStride, const double *b, int64_t bStride, int64_t rows, int64_t width,
             double *dot);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_ATTENTIONROWS_H
