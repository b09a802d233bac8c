//===- LinearCrossEntropyTileRows.cpp - Arithmetic between the products of tiles ===//
//
// Sums have four accumulators, so that an addition need not wait for the last; which word goes to which
// depends on its place alone. Exponentials are powers of two.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/LinearCrossEntropyTileRows.h"

#include "kernels/cpu/TileVectors.h"

#include <limits>

namespace weft::cpu {
namespace {

constexpr float kLog2OfE = 0x1.715476p0f;
constexpr float kNone = -std::numeric_limits<float>::infinity();
constexpr int64_t kChains = 4;

WEFT_TILES_INLINE __m512 foldChains(const __m512 chains[kChains]) {
  return _mm512_add_ps(_mm512_add_ps(chains[0], chains[1]), _mm512_add_ps(chains[2], chains[3]));
}

WEFT_TILES_INLINE __m512 largestOf(const float *logits, int64_t words) {
  __m512 most[kChains];
  for (__m512 &one : most)
    one = _mm512_set1_ps(kNone);
  // A NaN may be overtaken here: it shows in the sum of exponentials.
  for (int64_t word = 0; word < words; ++word)
    most[word % kChains] = _mm512_max_ps(most[word % kChains], _mm512_load_ps(logits + word * kStrip));
  return _mm512_max_ps(_mm512_max_ps(most[0], most[1]), _mm512_max_ps(most[2], most[3]));
}

template <typename Term>
WEFT_TILES_INLINE __m512 sumOf(const float *logits, int64_t words, const Term &term) {
  __m512 sums[kChains];
  for (__m512 &one : sums)
    one = _mm512_setzero_ps();
  int64_t word = 0;
  for (; word + kChains <= words; word += kChains)
    for (int64_t i = 0; i < kChains; ++i)
      sums[i] = _mm512_add_ps(sums[i], term(_mm512_load_ps(logits + (word + i) * kStrip)));
  for (int64_t i = 0; word < words; ++i, ++word)
    sums[i] = _mm512_add_ps(sums[i], term(_mm512_load_ps(logits + word * kStrip)));
  return foldChains(sums);
}

struct AsItIs {
  WEFT_TILES_INLINE __m512 operator()(__m512 logit) const { return logit; }
};

/// exp(logit - base).
struct Exponential {
  __m512 base;
  WEFT_TILES_INLINE __m512 operator()(__m512 logit) const {
    return powerOfTwo(_mm512_mul_ps(_mm512_sub_ps(logit, base), _mm512_set1_ps(kLog2OfE)));
  }
};

WEFT_TILES void reduce(const float *logits, int64_t words, float *maximum, float *sum, float *total) {
  if (total)
    _mm512_storeu_ps(total, sumOf(logits, words, AsItIs()));
  const __m512 most = largestOf(logits, words);
  _mm512_storeu_ps(maximum, most);
  // Where all are -infinity, each is 0 of what it is taken against.
  const __mmask16 some = _mm512_cmp_ps_mask(most, _mm512_set1_ps(kNone), _CMP_NEQ_UQ);
  _mm512_storeu_ps(sum, sumOf(logits, words, Exponential{_mm512_maskz_mov_ps(some, most)}));
}

template <bool kCapped>
WEFT_TILES void differentiate(float *logits, int64_t words, float cap, const StripGradient &gradient) {
  const Exponential weight{_mm512_load_ps(gradient.lse)};
  const __m512 factor = _mm512_loadu_ps(gradient.factor), share = _mm512_loadu_ps(gradient.share);
  const __m512 one = _mm512_set1_ps(1), caps = _mm512_set1_ps(cap);
  for (int64_t word = 0; word < words; ++word) {
    const __m512 logit = _mm512_load_ps(logits + word * kStrip);
    __m512 value = _mm512_sub_ps(_mm512_mul_ps(factor, weight(logit)), share);
    if constexpr (kCapped) {
      const __m512 tanh = _mm512_div_ps(logit, caps);
      value = _mm512_mul_ps(value, _mm512_sub_ps(one, _mm512_mul_ps(tanh, tanh)));
    }
    _mm512_store_ps(logits + word * kStrip, _mm512_maskz_mov_ps(gradient.counts, value));
  }
}

/// 32 gradients of a word, rounded.
WEFT_TILES_INLINE __m512i roundWord(const float *gradients, int64_t strip) {
  return (__m512i)_mm512_cvtne2ps_pbh(_mm512_load_ps(gradients + strip), _mm512_load_ps(gradients));
}

/// The values of two words in turns: `half` 0 of the first strip, 1 of the second.
WEFT_TILES_INLINE __m512i interleave(__m512i even, __m512i odd, int half) {
  const __m256i low = half ? _mm512_extracti64x4_epi64(even, 1) : _mm512_castsi512_si256(even);
  const __m256i high = half ? _mm512_extracti64x4_epi64(odd, 1) : _mm512_castsi512_si256(odd);
  return _mm512_or_si512(_mm512_cvtepu16_epi32(low), _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
}

WEFT_TILES void round(const float *gradients, int64_t strip, int64_t words, const RoundedGradients &to) {
  for (int64_t word = 0; word < tilePadded(words); word += 2) {
    const float *from = gradients + word * kStrip;
    const __m512i even = word < words ? roundWord(from, strip) : __m512i{};
    const __m512i odd = word + 1 < words ? roundWord(from + kStrip, strip) : __m512i{};
    BFloat16 *left = to.left + word / kStrip * to.leftStrip + word % kStrip * kTileDepth;
    _mm512_store_si512(left, even);
    _mm512_store_si512(left + kTileDepth, odd);
    BFloat16 *right = to.right + word * kStrip;
    _mm512_store_si512(right, interleave(even, odd, 0));
    _mm512_store_si512(right + to.rightStrip, interleave(even, odd, 1));
  }
}

} // namespace

void reduceStrip(const float *logits, int64_t words, float *maximum, float *sum, float *total) {
  reduce(logits, words, maximum, sum, total);
}

void differentiateStrip(float *logits, int64_t words, float cap, const StripGradient &gradient) {
  if (cap > 0)
    differentiate<true>(logits, words, cap, gradient);
  else
    differentiate<false>(logits, words, cap, gradient);
}

void roundPair(const float *gradients, int64_t strip, int64_t words, const RoundedGradients &to) {
  round(gradients, strip, words, to);
}

} // namespace weft::cpu
