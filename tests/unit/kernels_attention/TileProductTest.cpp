//===- TileProductTest.cpp - Packing and products of tiles ----------------===//
//
// Where the instruction set has no tiles, there is nothing to test.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/TileProduct.h"

#include "kernels/cpu/TileVectors.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace weft::cpu {
namespace {

/// Zeros on a 64-byte boundary.
template <typename T> struct Aligned {
  std::vector<T> memory;
  T *data;
  explicit Aligned(int64_t count) : memory(count + 64 / sizeof(T)) {
    void *start = memory.data();
    size_t space = memory.size() * sizeof(T);
    data = static_cast<T *>(std::align(64, count * sizeof(T), start, space));
  }
};

/// Small integers, which bfloat16 and sums in float32 hold exactly; rows lie further apart than they need.
struct Integers {
  int64_t rows, columns, stride;
  std::vector<BFloat16> values;
  Integers(int64_t rows, int64_t columns, unsigned seed) : rows(rows), columns(columns), stride(columns + 3) {
    std::mt19937 generator(seed);
    // What lies between the rows is NaN: nobody reads it.
    values.assign(rows * stride, BFloat16(0x7fff));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        values[r * stride + c] = BFloat16(
            std::bit_cast<uint32_t>(static_cast<float>(static_cast<int>(generator() % 17) - 8)) >> 16);
  }
  float at(int64_t r, int64_t c) const {
    return std::bit_cast<float>(uint32_t{static_cast<uint16_t>(values[r * stride + c])} << 16);
  }
  PackedFrom packed() const { return {values.data(), stride, rows, columns}; }
};

struct Sizes {
  int64_t rows, columns, depth;
};
constexpr Sizes kSizes[] = {{1, 1, 1}, {16, 16, 32}, {17, 33, 40}, {64, 96, 128}, {31, 32, 33}, {70, 5, 257}};

/// C of A and B, given as they lie or as their transposes, through rows and columns of C.
void expectProduct(const Sizes &sizes, bool leftTransposed, bool rightTransposed) {
  const Integers a(leftTransposed ? sizes.depth : sizes.rows, leftTransposed ? sizes.rows : sizes.depth, 1);
  const Integers b(rightTransposed ? sizes.columns : sizes.depth,
                   rightTransposed ? sizes.depth : sizes.columns, 2);
  const int64_t rows = tilePadded(sizes.rows), columns = tilePadded(sizes.columns),
                depth = tilePadded(sizes.depth);
  Aligned<BFloat16> left(rows * depth), right(columns * depth);
  (leftTransposed ? packLeftTransposed : packLeft)(a.packed(), left.data);
  (rightTransposed ? packRightTransposed : packRight)(b.packed(), right.data);
  Aligned<float> c(rows * columns), byRows(rows * columns);
  for (bool accumulate : {false, true}) {
    const TilesInUse inUse;
    multiplyTiles({.rowPairs = rows / kTileDepth,
                   .columnPairs = columns / kTileDepth,
                   .depth = depth / kTileDepth,
                   .a = left.data,
                   .aStrip = depth * kStrip,
                   .b = right.data,
                   .bStrip = depth * kStrip,
                   .c = c.data,
                   .cBelow = columns * kStrip,
                   .cBeside = kTileSums,
                   .accumulate = accumulate});
  }
  for (int64_t strip = 0; strip < rows / kStrip; ++strip)
    copyTiles(c.data + strip * columns * kStrip, columns / kStrip, byRows.data + strip * kStrip * columns,
              columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      float expected = 0;
      if (row < sizes.rows && column < sizes.columns)
        for (int64_t k = 0; k < sizes.depth; ++k)
          expected += (leftTransposed ? a.at(k, row) : a.at(row, k)) *
                      (rightTransposed ? b.at(column, k) : b.at(k, column));
      ASSERT_EQ(byRows.data[row * columns + column], 2 * expected) << "row " << row << ", column " << column;
    }
}

TEST(TileProduct, EqualsTheDefinitionHoweverOperandsLie) {
  if (!multipliesByTiles())
    GTEST_SKIP() << "an instruction set without tiles";
  for (const Sizes &sizes : kSizes)
    for (bool leftTransposed : {false, true})
      for (bool rightTransposed : {false, true}) {
        SCOPED_TRACE(testing::Message() << sizes.rows << " x " << sizes.depth << " x " << sizes.columns
                                        << ", " << leftTransposed << rightTransposed);
        expectProduct(sizes, leftTransposed, rightTransposed);
      }
}

TEST(TileProduct, TilesOfAColumnBecomeRows) {
  if (!multipliesByTiles())
    GTEST_SKIP() << "an instruction set without tiles";
  constexpr int64_t kCount = 3, kStride = kCount * kStrip + 5;
  Aligned<float> tiles(kCount * kTileSums);
  for (int64_t i = 0; i < kCount * kTileSums; ++i)
    tiles.data[i] = static_cast<float>(i);
  std::vector<float> rows(kStrip * kStride, -1);
  copyTilesTransposed(tiles.data, kCount, rows.data(), kStride);
  for (int64_t row = 0; row < kStrip; ++row)
    for (int64_t column = 0; column < kStride; ++column)
      EXPECT_EQ(rows[row * kStride + column],
                column < kCount * kStrip ? tiles.data[column * kStrip + row] : -1.0f);
}

WEFT_TILES void powersOfTwo(const float *x, float *y) { _mm512_storeu_ps(y, powerOfTwo(_mm512_loadu_ps(x))); }

TEST(TileVectors, PowersOfTwoAreOffByLittle) {
  if (!multipliesByTiles())
    GTEST_SKIP() << "an instruction set without tiles";
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float x[16], y[16];
  for (int64_t i = -126 * 64; i < 64 * 64; i += 16) {
    for (int64_t lane = 0; lane < 16; ++lane)
      x[lane] = static_cast<float>(i + lane) / 64 + 0.001f * static_cast<float>(lane);
    powersOfTwo(x, y);
    for (int64_t lane = 0; lane < 16; ++lane)
      EXPECT_NEAR(y[lane] / std::exp2(static_cast<double>(x[lane])), 1, 1.6e-7) << x[lane];
  }
  const float special[16] = {-kInfinity, kInfinity, std::nanf(""), 0, -1, 3, -200, -1e30f, -126, 127};
  const float expected[10] = {0, kInfinity, 0, 1, 0.5f, 8, 0, 0, 0x1p-126f, 0x1p127f};
  powersOfTwo(special, y);
  for (int64_t lane = 0; lane < 10; ++lane)
    if (std::isnan(special[lane]))
      EXPECT_TRUE(std::isnan(y[lane]));
    else
      EXPECT_EQ(y[lane], expected[lane]) << special[lane];
}

} // namespace
} // namespace weft::cpu
