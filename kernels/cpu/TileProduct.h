//===- TileProduct.h - Products of bfloat16 by tile registers -------------===//
//
// Intel's AMX multiplies a tile of 16 x 32 bfloat16 by one of 32 x 16 and adds to 16 x 16 float32. Here the
// matrices are packed before, tile after tile of 1 KiB, so that every load is one run of memory: the left
// one in strips of 16 rows, the right one in strips of 16 columns whose rows lie interleaved in pairs, as the
// instruction wants them. Both have an even number of strips and a depth of whole tiles, zeros where the
// matrix ends. An element of C is the sum over its depth in ascending order, whatever its place.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_TILEPRODUCT_H
#define WEFT_KERNELS_CPU_TILEPRODUCT_H

#include "kernels/cpu/MatrixProduct.h"

#include <cstdint>

namespace weft::cpu {

constexpr int64_t kStrip = 16;     ///< rows of a tile on the left, columns of one on the right
constexpr int64_t kTileDepth = 32; ///< also the rows or columns of two strips
constexpr int64_t kTileElements = kStrip * kTileDepth;
constexpr int64_t kTileSums = kStrip * kStrip;

/// True on the instruction set `amx_bf16`: nothing else here may be called on another.
bool multipliesByTiles();

/// How many times 32 hold `size`: pairs of strips, or tiles of depth.
constexpr int64_t tileCount(int64_t size) { return (size + kTileDepth - 1) / kTileDepth; }
constexpr int64_t tilePadded(int64_t size) { return tileCount(size) * kTileDepth; }

/// While it lives, the calling thread has the tiles of products.
class TilesInUse {
public:
  TilesInUse();
  ~TilesInUse();
  TilesInUse(const TilesInUse &) = delete;
  TilesInUse &operator=(const TilesInUse &) = delete;
};

/// X as it lies: `rows` of `columns` elements, `stride` apart.
struct PackedFrom {
  const BFloat16 *values;
  int64_t stride;
  int64_t rows;
  int64_t columns;
};

/// X as the left matrix.
void packLeft(const PackedFrom &x, BFloat16 *tiles);
/// The transpose of X as the left matrix.
void packLeftTransposed(const PackedFrom &x, BFloat16 *tiles);
/// The same of rows in the middle of a matrix whose strips are `strip` elements apart.
void packLeftTransposedPart(const PackedFrom &x, BFloat16 *tiles, int64_t strip);
/// X as the right matrix.
void packRight(const PackedFrom &x, BFloat16 *tiles);
void packRightPart(const PackedFrom &x, BFloat16 *tiles, int64_t strip);
/// The transpose of X as the right matrix.
void packRightTransposed(const PackedFrom &x, BFloat16 *tiles);

/// C = A B, or C + A B. C lies in tiles of 16 x 16 of one run of memory each.
struct TileProduct {
  int64_t rowPairs, columnPairs; ///< pairs of strips
  int64_t depth;                 ///< in tiles
  const BFloat16 *a;
  int64_t aStrip; ///< elements from one strip of A to the next
  const BFloat16 *b;
  int64_t bStrip;
  float *c;
  int64_t cBelow, cBeside; ///< elements from one tile of C to the next
  bool accumulate;
  /// Elements from one row of a tile of A to the next, and from one tile of a strip to the next: rows of
  /// whole tiles may be multiplied as they lie.
  int64_t aRow = kTileDepth, aTile = kTileElements;
};
void multiplyTiles(const TileProduct &product);

/// A strip of C, `count` tiles that lie one behind the other, to 16 rows `stride` apart.
void copyTiles(const float *tiles, int64_t count, float *rows, int64_t stride);
/// The same of a strip of columns: column i of C becomes row i.
void copyTilesTransposed(const float *tiles, int64_t count, float *rows, int64_t stride);
/// Four tiles of C, two and the two below, one behind the other: `rows` and `columns` of them, at most 32, to
/// rows `stride` apart. bfloat16 is rounded to the nearest even.
void storeTiles(const float *tiles, int64_t rows, int64_t columns, float *to, int64_t stride);
void storeTiles(const float *tiles, int64_t rows, int64_t columns, BFloat16 *to, int64_t stride);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_TILEPRODUCT_H
