//===- RopeLoops.h - Rotating the heads of one position -------------------===//
#ifndef WEFT_KERNELS_CPU_ROPELOOPS_H
#define WEFT_KERNELS_CPU_ROPELOOPS_H

#include "kernels/common/Types.h"

#include <cstdint>

namespace weft::cpu {

/// x and y hold `heads` heads of `headSize` elements; cosines and sines hold rotated / 2 numbers. y may be x.
struct RotatedHeads {
  DType type;
  int64_t heads, headSize, rotated;
  bool isInverse, isInterleaved;
  const void *x;
  void *y;
  const float *cosines, *sines;
};

/// Pairs (x_i, x_j) become (x_i cos - x_j sin, x_j cos + x_i sin), computed in float32 (float64 for float64);
/// what lies beyond `rotated` is copied.
void rotateHeads(const RotatedHeads &heads);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_ROPELOOPS_H
