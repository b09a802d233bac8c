//===- NormLoops.h - Normalizing rows, forward and backward ---------------===//
//
// RMS norm and layer norm are one computation: y = (x - mean) * rstd * (w + offset) [+ b], where RMS norm has
// mean 0. Statistics and sums are float32 (float64 for float64 tensors), in 64 lanes along a row.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_NORMLOOPS_H
#define WEFT_KERNELS_CPU_NORMLOOPS_H

#include "kernels/common/Types.h"

#include <cstdint>

namespace weft::cpu {

/// Pointers to whole tensors; rows are `width` elements. Types: x, w and b as said, mean and rstd float.
struct NormForward {
  DType xType, weightType, biasType, yType;
  int64_t width;
  double epsilon, offset;
  bool isCentered; ///< layer norm: subtracts the mean, adds b
  const void *x, *weight, *bias;
  void *y;
  float *mean, *rstd; ///< mean is null without centering
};

struct NormBackward {
  DType dyType, xType, weightType, dxType;
  int64_t width;
  double offset;
  bool isCentered;
  const void *dy, *x, *weight;
  const float *mean, *rstd;
  void *dx;
};

/// Rows [begin, end).
void normalizeRows(const NormForward &norm, int64_t begin, int64_t end);

/// Rows [begin, end): writes dx, and the sums over these rows of dy * xhat and (when centered) dy, `width`
/// each, of the compute type (float64 when x is).
void normalizeRowsBackward(const NormBackward &norm, int64_t begin, int64_t end, void *weightSums,
                           void *biasSums);

/// result[i] = sum over blocks, in order, of sums[block * stride + i], rounded; for i in [begin, end). Of the
/// compute type `sumType` (F32 or F64).
void foldBlocks(DType sumType, const void *sums, int64_t blocks, int64_t stride, int64_t begin, int64_t end,
                DType resultType, void *result);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_NORMLOOPS_H
