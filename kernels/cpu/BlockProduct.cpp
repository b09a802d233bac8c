//===- BlockProduct.cpp - Products of small blocks over packed panels -----===//
//
// One source for all instruction sets (Highway). A panel is two vectors wide, one where fewer columns are
// left. A tile of C is a panel wide and as many rows high as the registers hold; it stays in registers over
// its whole depth, which a broadcast element of A and a row of the panel advance by one. A panel stays in the
// first-level cache while the strips of A pass by.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/BlockProduct.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/BlockProduct.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace weft::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of a tile: with two vectors each, and those of B and A, they fill 16 or 32 registers.
constexpr int kTileRows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;

/// Columns of the panel that begins at `column`.
template <typename T> int64_t panelWidth(int64_t columns, int64_t column) {
  const int64_t lanes = hn::Lanes(hn::ScalableTag<T>());
  return columns - column > lanes ? 2 * lanes : lanes;
}

template <typename T>
void packPanelsOf(const T *b, int64_t stride, int64_t depth, int64_t columns, T *panels) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  for (int64_t column = 0; column < columns;) {
    const int64_t width = panelWidth<T>(columns, column), filled = std::min(width, columns - column);
    for (int64_t k = 0; k < depth; ++k, panels += width) {
      const T *from = b + k * stride + column;
      if (filled == width) {
        for (int64_t i = 0; i < width; i += lanes)
          hn::Store(hn::LoadU(d, from + i), d, panels + i);
        continue;
      }
      std::copy_n(from, filled, panels);
      std::fill(panels + filled, panels + width, T(0));
    }
    column += width;
  }
}

/// Rows of B^T to columns of a panel, 4 x 4 in registers.
HWY_INLINE void transposeFour(const float *from, int64_t stride, float *to, int64_t width) {
  const hn::FixedTag<float, 4> d;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + stride);
  const auto c = hn::LoadU(d, from + 2 * stride), e = hn::LoadU(d, from + 3 * stride);
  const auto lowAc = hn::InterleaveLower(d, a, c), lowBe = hn::InterleaveLower(d, b, e);
  const auto highAc = hn::InterleaveUpper(d, a, c), highBe = hn::InterleaveUpper(d, b, e);
  hn::Store(hn::InterleaveLower(d, lowAc, lowBe), d, to);
  hn::Store(hn::InterleaveUpper(d, lowAc, lowBe), d, to + width);
  hn::Store(hn::InterleaveLower(d, highAc, highBe), d, to + 2 * width);
  hn::Store(hn::InterleaveUpper(d, highAc, highBe), d, to + 3 * width);
}
HWY_INLINE void transposeFour(const double *from, int64_t stride, double *to, int64_t width) {
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t k = 0; k < 4; ++k)
      to[k * width + row] = from[row * stride + k];
}

template <typename T>
void packTransposedPanelsOf(const T *b, int64_t stride, int64_t depth, int64_t columns, T *panels) {
  for (int64_t column = 0; column < columns;) {
    const int64_t width = panelWidth<T>(columns, column), filled = std::min(width, columns - column);
    const T *from = b + column * stride;
    for (int64_t k = 0; k < depth; k += 4) {
      const int64_t count = std::min<int64_t>(4, depth - k);
      T *to = panels + k * width;
      int64_t row = 0;
      if (count == 4)
        for (; row + 4 <= filled; row += 4)
          transposeFour(from + row * stride + k, stride, to + row, width);
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t r = row; r < filled; ++r)
          to[i * width + r] = from[r * stride + k + i];
        std::fill(to + i * width + filled, to + (i + 1) * width, T(0));
      }
    }
    panels += depth * width;
    column += width;
  }
}

/// What a tile of C is made of.
template <typename T> struct Tile {
  int64_t depth;
  const T *a;
  MatrixStrides aStrides;
  const T *panel;
  T *c;
  int64_t cRow;
  bool accumulate;
  int64_t columns; ///< that C has; the panel may be wider
};

template <typename T, int kRows, int kVectors> void multiplyTile(const Tile<T> &tile) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = hn::Lanes(d);
  V sums[kRows][kVectors];

  for (int r = 0; r < kRows; ++r)

    for (int v = 0; v < kVectors; ++v)
      sums[r][v] = hn::Zero(d);
  const T *a = tile.a, *panel = tile.panel;
  const int64_t aRow = tile.aStrides.row, aColumn = tile.aStrides.column;
  for (int64_t k = 0; k < tile.depth; ++k, a += aColumn, panel += kVectors * lanes) {
    V b[kVectors];
    for (int v = 0; v < kVectors; ++v)
      b[v] = hn::Load(d, panel + v * lanes);
    for (int r = 0; r < kRows; ++r) {
      const V element = hn::Set(d, a[r * aRow]);
      for (int v = 0; v < kVectors; ++v)
        sums[r][v] = hn::MulAdd(element, b[v], sums[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      T *c = tile.c + r * tile.cRow + v * lanes;
      const int64_t left = tile.columns - v * lanes;
      if (left >= lanes) {
        hn::StoreU(tile.accumulate ? hn::Add(hn::LoadU(d, c), sums[r][v]) : sums[r][v], d, c);
      } else if (left > 0) {
        const auto mask = hn::FirstN(d, static_cast<size_t>(left));
        const V before = tile.accumulate ? hn::MaskedLoad(mask, d, c) : hn::Zero(d);
        hn::BlendedStore(hn::Add(before, sums[r][v]), mask, d, c);
      }
    }
}

/// The tile function for `rows` rows, at most kRows.
template <typename T, int kVectors, int kRows>
HWY_INLINE void multiplyRows(int64_t rows, const Tile<T> &tile) {
  if (rows == kRows)
    multiplyTile<T, kRows, kVectors>(tile);
  else if constexpr (kRows > 1)
    multiplyRows<T, kVectors, kRows - 1>(rows, tile);
}

/// What at least one of some rows needs, within [0, end).
struct NeededRange {
  int64_t first, last;
  NeededRange(const RowRanges &ranges, int64_t row, int64_t rows, int64_t end) : first(0), last(end) {
    if (!ranges.first)
      return;
    first = end, last = 0;
    for (int64_t r = row; r < row + rows; ++r)
      if (ranges.first[r] < ranges.last[r]) {
        first = std::min<int64_t>(first, ranges.first[r]);
        last = std::max<int64_t>(last, ranges.last[r]);
      }
    first = std::min(first, last);
  }
};

template <typename T> void multiplyPanelsOf(const BlockProduct<T> &product) {
  const T *panel = product.panels;
  const int64_t lanes = hn::Lanes(hn::ScalableTag<T>());
  for (int64_t column = 0; column < product.columns;) {
    const int64_t width = panelWidth<T>(product.columns, column);
    for (int64_t row = 0; row < product.rows; row += kTileRows) {
      const int64_t rows = std::min<int64_t>(kTileRows, product.rows - row);
      const NeededRange columns(product.neededColumns, row, rows, product.columns);
      if (columns.last <= column || columns.first >= column + width)
        continue;
      const NeededRange depth(product.neededDepth, row, rows, product.depth);
      const Tile<T> tile = {depth.last - depth.first,
                            product.a + row * product.aStrides.row + depth.first * product.aStrides.column,
                            product.aStrides,
                            panel + depth.first * width,
                            product.c + row * product.cRow + column,
                            product.cRow,
                            product.accumulate,
                            product.columns - column};
      if (width == 2 * lanes)
        multiplyRows<T, 2, kTileRows>(rows, tile);
      else
        multiplyRows<T, 1, kTileRows>(rows, tile);
    }
    panel += product.depth * width;
    column += width;
  }
}

void packPanelsFloat(const float *b, int64_t stride, int64_t depth, int64_t columns, float *panels) {
  packPanelsOf(b, stride, depth, columns, panels);
}
void packPanelsDouble(const double *b, int64_t stride, int64_t depth, int64_t columns, double *panels) {
  packPanelsOf(b, stride, depth, columns, panels);
}
void packTransposedFloat(const float *b, int64_t stride, int64_t depth, int64_t columns, float *panels) {
  packTransposedPanelsOf(b, stride, depth, columns, panels);
}
void packTransposedDouble(const double *b, int64_t stride, int64_t depth, int64_t columns, double *panels) {
  packTransposedPanelsOf(b, stride, depth, columns, panels);
}
void multiplyPanelsFloat(const BlockProduct<float> &product) { multiplyPanelsOf(product); }
void multiplyPanelsDouble(const BlockProduct<double> &product) { multiplyPanelsOf(product); }

} // namespace HWY_NAMESPACE
} // namespace weft::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::cpu {

HWY_EXPORT(packPanelsFloat);
HWY_EXPORT(packPanelsDouble);
HWY_EXPORT(packTransposedFloat);
HWY_EXPORT(packTransposedDouble);
HWY_EXPORT(multiplyPanelsFloat);
HWY_EXPORT(multiplyPanelsDouble);

void packPanels(const float *b, int64_t stride, int64_t depth, int64_t columns, float *panels) {
  HWY_DYNAMIC_DISPATCH(packPanelsFloat)(b, stride, depth, columns, panels);
}
void packPanels(const double *b, int64_t stride, int64_t depth, int64_t columns, double *panels) {
  HWY_DYNAMIC_DISPATCH(packPanelsDouble)(b, stride, depth, columns, panels);
}
void packTransposedPanels(const float *b, int64_t stride, int64_t depth, int64_t columns, float *panels) {
  HWY_DYNAMIC_DISPATCH(packTransposedFloat)(b, stride, depth, columns, panels);
}
void packTransposedPanels(const double *b, int64_t stride, int64_t depth, int64_t columns, double *panels) {
  HWY_DYNAMIC_DISPATCH(packTransposedDouble)(b, stride, depth, columns, panels);
}
void multiplyPanels(const BlockProduct<float> &product) {
  HWY_DYNAMIC_DISPATCH(multiplyPanelsFloat)(product);
}
void multiplyPanels(const BlockProduct<double> &product) {
  HWY_DYNAMIC_DISPATCH(multiplyPanelsDouble)(product);
}

} // namespace weft::cpu
#endif // HWY_ONCE
