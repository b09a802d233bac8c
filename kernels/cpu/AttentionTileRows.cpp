//===- AttentionTileRows.cpp - Arithmetic between the products of tiles ---===//
//
// A block that neither mask nor softcap touches takes the short way: one pass for maxima that only reads, and
// one for weights. Exponentials are powers of two, with the logarithm of e in the factor that scales anyway.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/AttentionTileRows.h"

#include "kernels/cpu/TileVectors.h"

#include <limits>

namespace weft::cpu {
namespace {

constexpr float kLog2OfE = 0x1.715476p0f;
constexpr float kNone = -std::numeric_limits<float>::infinity();

/// 16 times a and 16 times b, rounded.
WEFT_TILES_INLINE __m512i roundTwo(__m512 a, __m512 b) { return (__m512i)_mm512_cvtne2ps_pbh(b, a); }

/// The same, a and b in turns: a row of a right matrix.
WEFT_TILES_INLINE __m512i roundInterleaved(__m512 a, __m512 b) {
  const __m512i low = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i high = _mm512_slli_epi32(_mm512_add_epi32(low, _mm512_set1_epi32(16)), 16);
  return _mm512_permutexvar_epi16(_mm512_or_si512(low, high), roundTwo(a, b));
}

/// Which of the 16 queries of a strip see `key`.
WEFT_TILES_INLINE __mmask16 queriesThatSee(const TileMask &mask, int64_t strip, int64_t key) {
  if (key >= mask.keys)
    return 0;
  const int64_t query = strip * kStrip;
  const __m512i column = _mm512_set1_epi32(static_cast<int32_t>(key));
  __mmask16 sees = _mm512_cmple_epi32_mask(_mm512_loadu_si512(mask.first + query), column);
  sees = _mm512_mask_cmplt_epi32_mask(sees, column, _mm512_loadu_si512(mask.last + query));
  if (mask.positions) {
    const __m512i position = _mm512_set1_epi32(mask.positions[key]);
    sees = _mm512_mask_cmple_epi32_mask(sees, _mm512_loadu_si512(mask.leastPosition + query), position);
    sees = _mm512_mask_cmple_epi32_mask(sees, position, _mm512_loadu_si512(mask.mostPosition + query));
  }
  if (mask.keySegments)
    sees = _mm512_mask_cmpeq_epi32_mask(sees, _mm512_loadu_si512(mask.querySegments + query),
                                        _mm512_set1_epi32(mask.keySegments[key]));
  return sees;
}

/// x + x^3 p(x^2) for small x, with the polynomial of degree 4 of least relative error; else 1 - 2 / (1 +
/// e^(2x)). Off by 3e-7 of the result at most.
WEFT_TILES_INLINE __m512 tanhOf(__m512 x) {
  const __m512 one = _mm512_set1_ps(1), square = _mm512_mul_ps(x, x);
  const __m512 power = powerOfTwo(_mm512_mul_ps(x, _mm512_set1_ps(2 * kLog2OfE)));
  const __m512 large = _mm512_sub_ps(one, _mm512_div_ps(_mm512_set1_ps(2), _mm512_add_ps(one, power)));
  __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(-0x1.75e1b6p-8f), square, _mm512_set1_ps(0x1.522696p-6f));
  sum = _mm512_fmadd_ps(sum, square, _mm512_set1_ps(-0x1.b83c5ap-5f));
  sum = _mm512_fmadd_ps(sum, square, _mm512_set1_ps(0x1.110726p-3f));
  sum = _mm512_fmadd_ps(sum, square, _mm512_set1_ps(-0x1.555532p-2f));
  const __m512 small = _mm512_fmadd_ps(_mm512_mul_ps(sum, square), x, x);
  const __mmask16 isSmall = _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(0.625f), _CMP_LT_OQ);
  return _mm512_mask_mov_ps(large, isSmall, small);
}

/// The largest product of each query.
WEFT_TILES_INLINE __m512 largestProducts(const float *scores, int64_t first, int64_t last) {
  __m512 most[4];
  for (__m512 &one : most)
    one = _mm512_set1_ps(kNone);
  for (int64_t key = first; key < last; key += 4)
    for (int64_t i = 0; i < 4; ++i)
      most[i] = _mm512_max_ps(most[i], _mm512_load_ps(scores + (key + i) * kStrip));
  return _mm512_max_ps(_mm512_max_ps(most[0], most[1]), _mm512_max_ps(most[2], most[3]));
}

/// Products to scores, or to themselves, and -infinity for what a query does not see. Returns the largest of
/// each query.
WEFT_TILES_INLINE __m512 makeScores(const ScoreTiles &block, int64_t strip, float *scores, int64_t first,
                                    int64_t last) {
  const __m512 scale = _mm512_set1_ps(block.scale), cap = _mm512_set1_ps(block.softcap);
  const bool scales = !block.keepsProducts();
  __m512 most = _mm512_set1_ps(kNone);
  for (int64_t key = first; key < last; ++key) {
    __m512 score = _mm512_load_ps(scores + key * kStrip);
    if (scales)
      score = _mm512_mul_ps(score, scale);
    if (block.softcap > 0)
      score = _mm512_mul_ps(cap, tanhOf(_mm512_div_ps(score, cap)));
    if (block.mask)
      score = _mm512_mask_mov_ps(_mm512_set1_ps(kNone), queriesThatSee(*block.mask, strip, key), score);
    _mm512_store_ps(scores + key * kStrip, score);
    most = _mm512_max_ps(most, score);
  }
  return most;
}

/// Writes the weights 2^(factor * (score - base)), a pair of keys in a row; returns their sums. The
/// difference comes first: it is exact where it matters, however large scores are.
WEFT_TILES_INLINE __m512 weigh(const float *scores, int64_t first, int64_t last, __m512 factor, __m512 base,
                               BFloat16 *weights) {
  __m512 even = _mm512_setzero_ps(), odd = _mm512_setzero_ps();
  for (int64_t key = first; key < last; key += 2) {
    const float *at = scores + key * kStrip;
    const __m512 a = powerOfTwo(_mm512_mul_ps(_mm512_sub_ps(_mm512_load_ps(at), base), factor));
    const __m512 b = powerOfTwo(_mm512_mul_ps(_mm512_sub_ps(_mm512_load_ps(at + kStrip), base), factor));
    even = _mm512_add_ps(even, a);
    odd = _mm512_add_ps(odd, b);
    _mm512_store_si512(weights + key * kStrip, roundInterleaved(a, b));
  }
  return _mm512_add_ps(even, odd);
}

WEFT_TILES void softmaxStrip(const ScoreTiles &block, int64_t strip, const KeyPart &part, float *maximum,
                             float *sum, float *output, int64_t outputTiles, BFloat16 *weights) {
  float *scores = block.scores + strip * kScoreStrip;
  const bool asTheyAre = !block.mask && block.keepsProducts();
  const __m512 before = _mm512_loadu_ps(maximum);
  const __m512 after =
      _mm512_max_ps(before, asTheyAre ? largestProducts(scores, part.first, part.last)
                                      : makeScores(block, strip, scores, part.first, part.last));
  // Queries that have seen nothing yet: their weights are taken against 0, and are 0.
  const __mmask16 some = _mm512_cmp_ps_mask(after, _mm512_set1_ps(kNone), _CMP_NEQ_UQ);
  const __m512 base = _mm512_maskz_mov_ps(some, after);
  const __m512 factor = _mm512_set1_ps(block.unit() * kLog2OfE);
  const __m512 added = weigh(scores, part.first, part.last, factor, base, weights);
  _mm512_storeu_ps(maximum, after);
  // Where the maximum was -infinity the sum and the output are 0, and stay so.
  const __mmask16 grown = _mm512_cmp_ps_mask(before, after, _CMP_NEQ_UQ);
  if (grown == 0) {
    _mm512_storeu_ps(sum, _mm512_add_ps(_mm512_loadu_ps(sum), added));
    return;
  }
  const __m512 shrink = _mm512_mask_mov_ps(_mm512_set1_ps(1), grown,
                                           powerOfTwo(_mm512_mul_ps(_mm512_sub_ps(before, base), factor)));
  _mm512_storeu_ps(sum, _mm512_fmadd_ps(_mm512_loadu_ps(sum), shrink, added));
  for (int64_t i = 0; i < outputTiles * kTileSums; i += kStrip)
    _mm512_store_ps(output + i, _mm512_mul_ps(_mm512_load_ps(output + i), shrink));
}

/// One vector of the backward.
template <bool kMasked, bool kCapped> struct GradientOfScores {
  __m512 weight, gradient;
  WEFT_TILES_INLINE void compute(const ScoreTiles &block, int64_t strip, int64_t key, const float *products,
                                 const float *weightGradients, __m512 base, __m512 dot) {
    const __m512 scale = _mm512_set1_ps(block.scale), log2OfE = _mm512_set1_ps(kLog2OfE);
    const int64_t place = strip * kScoreStrip + key * kStrip;
    __m512 score = _mm512_mul_ps(_mm512_load_ps(products + place), scale);
    __m512 inner = _mm512_sub_ps(_mm512_load_ps(weightGradients + place), dot);
    if constexpr (kCapped) {
      // d cap tanh(x / cap) / dx = 1 - tanh^2.
      const __m512 cap = _mm512_set1_ps(block.softcap), tanh = tanhOf(_mm512_div_ps(score, cap));
      inner = _mm512_mul_ps(inner, _mm512_fnmadd_ps(tanh, tanh, _mm512_set1_ps(1)));
      score = _mm512_mul_ps(cap, tanh);
    }
    weight = powerOfTwo(_mm512_mul_ps(_mm512_sub_ps(score, base), log2OfE));
    gradient = _mm512_mul_ps(_mm512_mul_ps(weight, inner), scale);
    if constexpr (kMasked) {
      const __mmask16 sees = queriesThatSee(*block.mask, strip, key);
      weight = _mm512_maskz_mov_ps(sees, weight);
      gradient = _mm512_maskz_mov_ps(sees, gradient);
    }
  }
};

/// The log-sum-exp of 16 queries; 0 for those that see nothing.
WEFT_TILES_INLINE __m512 baseOf(const float *logSumExp) {
  const __m512 values = _mm512_loadu_ps(logSumExp);
  const __mmask16 some = _mm512_cmp_ps_mask(values, _mm512_set1_ps(kNone), _CMP_NEQ_UQ);
  return _mm512_maskz_mov_ps(some, values);
}

template <bool kMasked, bool kCapped>
WEFT_TILES void scoreGradients(const ScoreTiles &block, const float *weightGradients, int64_t first,
                               int64_t last, const float *logSumExp, const float *dot,
                               const GradientTiles &to) {
  const __m512 leftBase = baseOf(logSumExp), rightBase = baseOf(logSumExp + kStrip);
  const __m512 leftDot = _mm512_loadu_ps(dot), rightDot = _mm512_loadu_ps(dot + kStrip);
  for (int64_t key = first; key < last; key += 2) {
    GradientOfScores<kMasked, kCapped> left[2], right[2];
    for (int64_t i = 0; i < 2; ++i) {
      left[i].compute(block, 0, key + i, block.scores, weightGradients, leftBase, leftDot);
      right[i].compute(block, 1, key + i, block.scores, weightGradients, rightBase, rightDot);
      const int64_t place = (key + i) / kStrip * to.strip + (key + i) % kStrip * kTileDepth;
      _mm512_store_si512(to.weights + place, roundTwo(left[i].weight, right[i].weight));
      _mm512_store_si512(to.gradients + place, roundTwo(left[i].gradient, right[i].gradient));
    }
    BFloat16 *pair = to.gradientsRight + key * kStrip;
    _mm512_store_si512(pair, roundInterleaved(left[0].gradient, left[1].gradient));
    _mm512_store_si512(pair + kKeyDepthStrip, roundInterleaved(right[0].gradient, right[1].gradient));
  }
}

WEFT_TILES void scaleStrip(float *tiles, int64_t count, const float *factors) {
  const __m512 factor = _mm512_loadu_ps(factors);
  const __mmask16 some = _mm512_cmp_ps_mask(factor, _mm512_setzero_ps(), _CMP_NEQ_UQ);
  for (int64_t i = 0; i < count * kTileSums; i += kStrip)
    _mm512_store_ps(tiles + i, _mm512_maskz_mul_ps(some, _mm512_load_ps(tiles + i), factor));
}

} // namespace

TileMask::TileMask(const VisibleColumns &visible, int64_t queries, int64_t keys)
    : positions(visible.positions), keySegments(visible.keySegments), keys(keys) {
  for (int64_t i = 0; i < kTileQueries; ++i) {
    const bool exists = i < queries;
    first[i] = exists ? visible.first[i] : 0;
    last[i] = exists ? visible.last[i] : 0;
    leastPosition[i] = positions && exists ? visible.leastPosition[i] : 0;
    mostPosition[i] = positions && exists ? visible.mostPosition[i] : 0;
    querySegments[i] = keySegments && exists ? visible.querySegments[i] : 0;
  }
}

KeyPart::KeyPart(const VisibleColumns &visible, int64_t queries, int64_t keys) : first(keys), last(0) {
  for (int64_t i = 0; i < queries; ++i)
    if (visible.first[i] < visible.last[i]) {
      first = std::min<int64_t>(first, visible.first[i]);
      last = std::max<int64_t>(last, visible.last[i]);
    }
  first = first / kTileDepth * kTileDepth;
  last = tilePadded(last);
}

void softmaxTiles(const ScoreTiles &block, const KeyPart &part, float *maximum, float *sum, float *output,
                  int64_t outputTiles, BFloat16 *weights) {
  for (int64_t strip = 0; strip < 2; ++strip)
    softmaxStrip(block, strip, part, maximum + strip * kStrip, sum + strip * kStrip,
                 output + strip * outputTiles * kTileSums, outputTiles, weights + strip * kKeyDepthStrip);
}

void scoreGradientTiles(const ScoreTiles &block, const float *weightGradients, int64_t first, int64_t last,
                        const float *logSumExp, const float *dot, const GradientTiles &to) {
  const auto compute = block.mask
                           ? (block.softcap > 0 ? scoreGradients<true, true> : scoreGradients<true, false>)
                           : (block.softcap > 0 ? scoreGradients<false, true> : scoreGradients<false, false>);
  compute(block, weightGradients, first, last, logSumExp, dot, to);
}

void scaleTiles(float *tiles, int64_t count, const float *factors) { scaleStrip(tiles, count, factors); }

} // namespace weft::cpu
