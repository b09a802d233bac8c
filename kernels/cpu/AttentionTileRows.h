//===- AttentionTileRows.h - Arithmetic between the products of tiles -----===//
//
// AttentionRows for products by tiles. Scores lie transposed, keys below each other and 16 queries side by
// side in a vector, so that maxima, sums and masks need nothing from other lanes. Two strips of queries are
// worked on at a time. Weights and gradients of scores are rounded to bfloat16 (nearest even) where the next
// product reads them; sums of weights are those of the float32 before.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_ATTENTIONTILEROWS_H
#define WEFT_KERNELS_CPU_ATTENTIONTILEROWS_H

#include "kernels/cpu/AttentionScores.h"
#include "kernels/cpu/TileProduct.h"

namespace weft::cpu {

/// Keys of a block of tiles.
constexpr int64_t kTileKeys = 256;
/// Queries that are worked on at a time: a pair of strips.
constexpr int64_t kTileQueries = kTileDepth;
/// From the scores of one strip of queries to those of the other.
constexpr int64_t kScoreStrip = kTileKeys * kStrip;
/// From one strip to the next of a right matrix whose depth are the keys.
constexpr int64_t kKeyDepthStrip = kTileKeys * kStrip;

/// Which keys of a block some queries see; the queries that there are not see none.
struct TileMask {
  alignas(64) int32_t first[kTileQueries];
  int32_t last[kTileQueries];
  int32_t leastPosition[kTileQueries];
  int32_t mostPosition[kTileQueries];
  int32_t querySegments[kTileQueries];
  const int32_t *positions;
  const int32_t *keySegments;
  int64_t keys;
  TileMask(const VisibleColumns &visible, int64_t queries, int64_t keys);
};

/// Pair `index` of the strips of some queries.
inline Span pairOfQueries(Span queries, int64_t index) {
  return {queries.first + index * kTileQueries, std::min(kTileQueries, queries.count - index * kTileQueries)};
}

/// True when no mask is needed: everything is seen, and keys fill their tiles.
inline bool isWhole(const VisibleColumns &visible, Span keys) {
  return visible.all && keys.count % kTileDepth == 0;
}

inline PackedFrom packedFrom(const void *tensor, const BlockPlace &place) {
  return {static_cast<const BFloat16 *>(tensor) + place.offset, place.stride, place.rows, place.columns};
}

/// The part of a block of keys that at least one of some queries sees, in whole tiles of depth.
struct KeyPart {
  int64_t first, last;
  KeyPart(const VisibleColumns &visible, int64_t queries, int64_t keys);
};

/// Plain products q k^T of kTileQueries queries: two strips of tiles, kScoreStrip apart.
struct ScoreTiles {
  float *scores;
  float scale;
  float softcap;        ///< 0: none
  const TileMask *mask; ///< null: everything is seen

  /// True where scaling keeps the order of products: the forward then compares them as they are.
  bool keepsProducts() const { return softcap == 0 && scale > 0; }
  /// What the forward's maxima are times.
  float unit() const { return keepsProducts() ? scale : 1; }
};

/// One block of the online softmax for keys [part.first, part.last). Writes the weights exp(score -
/// maximum[q] * block.unit()) as the right matrix `weights`, strips kKeyDepthStrip apart; updates maximum and
/// sum of the queries, and rescales their `output`, two strips of `outputTiles` tiles each. Scores are
/// overwritten.
void softmaxTiles(const ScoreTiles &block, const KeyPart &part, float *maximum, float *sum, float *output,
                  int64_t outputTiles, BFloat16 *weights);

/// Where the backward writes weights and the gradients of plain products: as left matrices (of keys and
/// queries), whose strips of keys are `strip` elements apart, and the gradients as a right matrix too.
struct GradientTiles {
  BFloat16 *weights;
  BFloat16 *gradients;
  int64_t strip;
  BFloat16 *gradientsRight;
};

/// The backward for keys [first, last): whole strips, two by two. `weightGradients` lie as the scores do.
void scoreGradientTiles(const ScoreTiles &block, const float *weightGradients, int64_t first, int64_t last,
                        const float *logSumExp, const float *dot, const GradientTiles &to);

/// Multiplies a strip of columns, `count` tiles, by a factor for each column; by 0, whatever there is gives
/// 0.
void scaleTiles(float *tiles, int64_t count, const float *factors);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_ATTENTIONTILEROWS_H
