//===- TileProduct.cpp - Products of bfloat16 by tile registers -----------===//
//
// Two tiles of A and two of B feed four of C, which stay in registers over their depth: half a load for a
// multiplication. Packing goes through registers, 16 rows of 64 bytes at a time.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/TileProduct.h"

#include "kernels/cpu/Registry.h"
#include "kernels/cpu/TileVectors.h"

#include <algorithm>

namespace weft::cpu {
namespace {

/// The operand of LDTILECFG: palette 1, eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1;
  uint8_t firstRow = 0;
  uint8_t reserved[14] = {};
  uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfiguration) == 64);
constexpr TileConfiguration kConfiguration;

constexpr int kRowBytes = 64;

WEFT_TILES void configure() { _tile_loadconfig(&kConfiguration); }
WEFT_TILES void release() { _tile_release(); }

/// The first `count` of 32 elements of 16 bits.
WEFT_TILES_INLINE __mmask32 firstOf32(int64_t count) {
  return count >= 32 ? ~__mmask32(0) : (__mmask32(1) << std::max<int64_t>(count, 0)) - 1;
}

/// 16 rows of 32 elements from (row, column) on; zeros where X ends.
WEFT_TILES_INLINE void loadRows(const PackedFrom &x, int64_t row, int64_t column, __m512i registers[16]) {
  const __mmask32 mask = firstOf32(x.columns - column);
  const BFloat16 *from = x.values + row * x.stride + column;
  if (row + 16 <= x.rows && mask == ~__mmask32(0)) {
    for (int64_t r = 0; r < 16; ++r)
      registers[r] = _mm512_loadu_si512(from + r * x.stride);
    return;
  }
  for (int64_t r = 0; r < 16; ++r)
    registers[r] = row + r < x.rows ? _mm512_maskz_loadu_epi16(mask, from + r * x.stride) : __m512i{};
}

/// 16 pairs of rows, interleaved, 32 columns wide, from (row, column) on: columns 0 to 15 in `first`, the
/// others in `second`; zeros where X ends.
WEFT_TILES_INLINE void loadPairs(const PackedFrom &x, int64_t row, int64_t column, __m512i first[16],
                                 __m512i second[16]) {
  // In each 128 bits, unpacking takes the lower or upper four columns; these bring them into order.
  const __m512i firstOrder = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                secondOrder = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  const __mmask32 mask = firstOf32(x.columns - column);
  const BFloat16 *from = x.values + row * x.stride + column;
  const bool isWhole = row + kTileDepth <= x.rows && mask == ~__mmask32(0);
  for (int64_t r = 0; r < 16; ++r, from += 2 * x.stride) {
    __m512i even, odd;
    if (isWhole) {
      even = _mm512_loadu_si512(from);
      odd = _mm512_loadu_si512(from + x.stride);
    } else {
      const bool hasEven = row + 2 * r < x.rows, hasOdd = row + 2 * r + 1 < x.rows;
      even = hasEven ? _mm512_maskz_loadu_epi16(mask, from) : __m512i{};
      odd = hasOdd ? _mm512_maskz_loadu_epi16(mask, from + x.stride) : __m512i{};
    }
    const __m512i low = _mm512_unpacklo_epi16(even, odd), high = _mm512_unpackhi_epi16(even, odd);
    first[r] = _mm512_permutex2var_epi64(low, firstOrder, high);
    second[r] = _mm512_permutex2var_epi64(low, secondOrder, high);
  }
}

WEFT_TILES_INLINE void storeRows(const __m512i registers[16], BFloat16 *tile) {
  for (int64_t r = 0; r < 16; ++r)
    _mm512_store_si512(tile + r * kTileDepth, registers[r]);
}

/// Strips of X's rows.
template <bool kTransposed> WEFT_TILES void packRows(const PackedFrom &x, BFloat16 *tiles) {
  for (int64_t row = 0; row < tilePadded(x.rows); row += kStrip)
    for (int64_t column = 0; column < x.columns; column += kTileDepth, tiles += kTileElements) {
      __m512i registers[16];
      loadRows(x, row, column, registers);
      if (kTransposed)
        transposeRegisters(registers);
      storeRows(registers, tiles);
    }
}

/// Strips of X's columns, `strip` elements apart: rows by rows, which is how memory is read fastest.
template <bool kTransposed> WEFT_TILES void packColumns(const PackedFrom &x, BFloat16 *tiles, int64_t strip) {
  for (int64_t row = 0; row < x.rows; row += kTileDepth, tiles += kTileElements)
    for (int64_t column = 0; column < x.columns; column += kTileDepth) {
      __m512i first[16], second[16];
      loadPairs(x, row, column, first, second);
      if (kTransposed) {
        transposeRegisters(first);
        transposeRegisters(second);
      }
      BFloat16 *tile = tiles + column / kStrip * strip;
      storeRows(first, tile);
      storeRows(second, tile + strip);
    }
}

template <bool kTransposed>
WEFT_TILES void copyStrip(const float *tiles, int64_t count, float *rows, int64_t stride) {
  for (int64_t tile = 0; tile < count; ++tile, tiles += kTileSums) {
    __m512i registers[16];
    for (int64_t r = 0; r < 16; ++r)
      registers[r] = _mm512_load_si512(tiles + r * kStrip);
    if (kTransposed)
      transposeRegisters(registers);
    for (int64_t r = 0; r < 16; ++r)
      _mm512_storeu_si512(rows + r * stride + tile * kStrip, registers[r]);
  }
}

/// The lanes that are among the first `count`.
WEFT_TILES_INLINE __mmask16 firstOf16(int64_t count) { return static_cast<__mmask16>(firstOf32(count)); }

WEFT_TILES void storeFour(const float *tiles, int64_t rows, int64_t columns, float *to, int64_t stride) {
  const __mmask16 left = firstOf16(columns), right = firstOf16(columns - kStrip);
  for (int64_t r = 0; r < rows; ++r, to += stride) {
    const float *from = tiles + (r / kStrip * 2 * kStrip + r % kStrip) * kStrip;
    _mm512_mask_storeu_ps(to, left, _mm512_load_ps(from));
    _mm512_mask_storeu_ps(to + kStrip, right, _mm512_load_ps(from + kTileSums));
  }
}

WEFT_TILES void storeFour(const float *tiles, int64_t rows, int64_t columns, BFloat16 *to, int64_t stride) {
  const __mmask32 mask = firstOf32(columns);
  for (int64_t r = 0; r < rows; ++r, to += stride) {
    const float *from = tiles + (r / kStrip * 2 * kStrip + r % kStrip) * kStrip;
    const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_load_ps(from + kTileSums), _mm512_load_ps(from));
    _mm512_mask_storeu_epi16(to, mask, (__m512i)both);
  }
}

/// Two strips by two: four tiles of C.
WEFT_TILES_INLINE void multiplyFour(const TileProduct &product, const BFloat16 *a, const BFloat16 *b,
                                    float *c) {
  float *c1 = c + product.cBeside, *c2 = c + product.cBelow, *c3 = c2 + product.cBeside;
  if (product.accumulate) {
    _tile_loadd(0, c, kRowBytes);
    _tile_loadd(1, c1, kRowBytes);
    _tile_loadd(2, c2, kRowBytes);
    _tile_loadd(3, c3, kRowBytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const int64_t aRow = product.aRow * static_cast<int64_t>(sizeof(BFloat16));
  for (int64_t k = 0; k < product.depth; ++k, a += product.aTile, b += kTileElements) {
    _tile_loadd(4, a, aRow);
    _tile_loadd(6, b, kRowBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + product.bStrip, kRowBytes);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + product.aStrip, aRow);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, kRowBytes);
  _tile_stored(1, c1, kRowBytes);
  _tile_stored(2, c2, kRowBytes);
  _tile_stored(3, c3, kRowBytes);
}

WEFT_TILES void multiplyAll(const TileProduct &product) {
  for (int64_t column = 0; column < product.columnPairs; ++column)
    for (int64_t row = 0; row < product.rowPairs; ++row)
      multiplyFour(product, product.a + 2 * row * product.aStrip, product.b + 2 * column * product.bStrip,
                   product.c + 2 * row * product.cBelow + 2 * column * product.cBeside);
}

} // namespace

bool multipliesByTiles() { return instructionSetInUse() == InstructionSet::AMX_BF16; }

TilesInUse::TilesInUse() { configure(); }
/// Registers that hold nothing need not be saved when the system changes threads.
TilesInUse::~TilesInUse() { release(); }

void packLeft(const PackedFrom &x, BFloat16 *tiles) { packRows<false>(x, tiles); }
void packRightTransposed(const PackedFrom &x, BFloat16 *tiles) { packRows<true>(x, tiles); }
void packRightPart(const PackedFrom &x, BFloat16 *tiles, int64_t strip) {
  packColumns<false>(x, tiles, strip);
}
void packRight(const PackedFrom &x, BFloat16 *tiles) {
  packColumns<false>(x, tiles, tileCount(x.rows) * kTileElements);
}
void packLeftTransposedPart(const PackedFrom &x, BFloat16 *tiles, int64_t strip) {
  packColumns<true>(x, tiles, strip);
}
void packLeftTransposed(const PackedFrom &x, BFloat16 *tiles) {
  packColumns<true>(x, tiles, tileCount(x.rows) * kTileElements);
}
void multiplyTiles(const TileProduct &product) { multiplyAll(product); }
void copyTiles(const float *tiles, int64_t count, float *rows, int64_t stride) {
  copyStrip<false>(tiles, count, rows, stride);
}
void copyTilesTransposed(const float *tiles, int64_t count, float *rows, int64_t stride) {
  copyStrip<true>(tiles, count, rows, stride);
}
void storeTiles(const float *tiles, int64_t rows, int64_t columns, float *to, int64_t stride) {
  storeFour(tiles, rows, columns, to, stride);
}
void storeTiles(const float *tiles, int64_t rows, int64_t columns, BFloat16 *to, int64_t stride) {
  storeFour(tiles, rows, columns, to, stride);
}

} // namespace weft::cpu
