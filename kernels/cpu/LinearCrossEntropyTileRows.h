//===- LinearCrossEntropyTileRows.h - Arithmetic between the products of tiles ===//
//
// LinearCrossEntropyRows for products by tiles (TileProduct.h). Logits lie transposed: the words of a tile of
// the vocabulary below each other, the 16 rows of x of a strip side by side in a vector, so that maxima and
// sums need nothing from other lanes.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_LINEARCROSSENTROPYTILEROWS_H
#define WEFT_KERNELS_CPU_LINEARCROSSENTROPYTILEROWS_H

#include "kernels/cpu/TileProduct.h"

namespace weft::cpu {

/// Of each of the 16 rows of a strip: its largest of `words` logits (at least one) and the sum of exp(logit -
/// largest). `total` (null: not wanted) gets the plain sums.
void reduceStrip(const float *logits, int64_t words, float *maximum, float *sum, float *total);

/// What LogitGradient says, of the 16 rows of a strip; factor and share are 0 where a row does not count.
struct StripGradient {
  alignas(64) float lse[kStrip];
  float factor[kStrip];
  float share[kStrip];
  uint16_t counts; ///< a bit for each row
};
/// Turns `words` (capped) logits of a strip into their gradients, all but the target's own term.
void differentiateStrip(float *logits, int64_t words, float cap, const StripGradient &gradient);

/// Rounds `words` gradients of the two strips of a pair, `strip` elements apart, to bfloat16: as a part of
/// the left matrix of words x rows, `left`, whose strips of words are `leftStrip` elements apart, and of the
/// right matrix of words x rows, `right`, whose strips of rows are `rightStrip` apart. What is left of the
/// last tile of words is 0.
struct RoundedGradients {
  BFloat16 *left;
  int64_t leftStrip;
  BFloat16 *right;
  int64_t rightStrip;
};
void roundPair(const float *gradients, int64_t strip, int64_t words, const RoundedGradients &to);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_LINEARCROSSENTROPYTILEROWS_H
