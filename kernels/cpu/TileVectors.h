//===- TileVectors.h - Vectors of a processor that has tiles --------------===//
//
// What the files around tiles share: the attribute of their functions, a transposition in registers and a
// power of two. Such a processor (Intel's AMX) always has AVX-512 with bfloat16. Functions carry the
// instruction set themselves, so that nothing else of their file is compiled for it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_TILEVECTORS_H
#define WEFT_KERNELS_CPU_TILEVECTORS_H

#include <immintrin.h>

#include <cstdint>

// GCC 12 warns of its own intrinsics (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#define WEFT_TILES                                                                                           \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma,amx-tile,amx-bf16")))
#define WEFT_TILES_INLINE WEFT_TILES __attribute__((always_inline)) inline

namespace weft::cpu {

/// 16 x 16 values of 32 bits: rows become columns.
WEFT_TILES_INLINE void transposeRegisters(__m512i rows[16]) {
  __m512i pairs[16], fours[16];
  for (int i = 0; i < 8; ++i) {
    pairs[2 * i] = _mm512_unpacklo_epi32(rows[2 * i], rows[2 * i + 1]);
    pairs[2 * i + 1] = _mm512_unpackhi_epi32(rows[2 * i], rows[2 * i + 1]);
  }
  // Quarter l of fours[4 i + j] is column 4 l + j of rows 4 i to 4 i + 3.
  for (int i = 0; i < 4; ++i) {
    fours[4 * i] = _mm512_unpacklo_epi64(pairs[4 * i], pairs[4 * i + 2]);
    fours[4 * i + 1] = _mm512_unpackhi_epi64(pairs[4 * i], pairs[4 * i + 2]);
    fours[4 * i + 2] = _mm512_unpacklo_epi64(pairs[4 * i + 1], pairs[4 * i + 3]);
    fours[4 * i + 3] = _mm512_unpackhi_epi64(pairs[4 * i + 1], pairs[4 * i + 3]);
  }
  for (int j = 0; j < 4; ++j) {
    const __m512i even = _mm512_shuffle_i32x4(fours[j], fours[4 + j], 0x88);
    const __m512i evenBelow = _mm512_shuffle_i32x4(fours[8 + j], fours[12 + j], 0x88);
    const __m512i odd = _mm512_shuffle_i32x4(fours[j], fours[4 + j], 0xdd);
    const __m512i oddBelow = _mm512_shuffle_i32x4(fours[8 + j], fours[12 + j], 0xdd);
    rows[j] = _mm512_shuffle_i32x4(even, evenBelow, 0x88);
    rows[4 + j] = _mm512_shuffle_i32x4(odd, oddBelow, 0x88);
    rows[8 + j] = _mm512_shuffle_i32x4(even, evenBelow, 0xdd);
    rows[12 + j] = _mm512_shuffle_i32x4(odd, oddBelow, 0xdd);
  }
}

/// 2^x, off by 1.6e-7 of it at most, exact where x is an integer; 0 for -infinity, NaN for NaN. The
/// polynomial of degree 5 is the one of least relative error on [0, 1] among those with the right ends.
WEFT_TILES_INLINE __m512 powerOfTwo(__m512 x) {
  constexpr int kFractionAboveFloor = 1;
  const __m512 f = _mm512_reduce_ps(x, kFractionAboveFloor);
  __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(0x1.eca6fp-10f), f, _mm512_set1_ps(0x1.269deep-7f));
  sum = _mm512_fmadd_ps(sum, f, _mm512_set1_ps(0x1.c94444p-5f));
  sum = _mm512_fmadd_ps(sum, f, _mm512_set1_ps(0x1.ebd8ap-3f));
  sum = _mm512_fmadd_ps(sum, f, _mm512_set1_ps(0x1.62e4c8p-1f));
  sum = _mm512_fmadd_ps(sum, f, _mm512_set1_ps(1.0f));
  return _mm512_scalef_ps(sum, x); // times 2^floor(x)
}

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_TILEVECTORS_H
