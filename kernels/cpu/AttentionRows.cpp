//===- AttentionRows.cpp - Online softmax and its gradient, vectorized ----===//
//
// One source for all instruction sets (Highway). Only the vectors around what a row sees are read; the rest
// of the row becomes 0. The forward passes twice over a row, for its maximum and for its weights, the
// backward once. A row that has seen no key yet has maximum -infinity; its weights are taken against 0
// instead, which leaves them exactly 0.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/AttentionRows.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/AttentionRows.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/cpu/AttentionExp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::cpu {
namespace HWY_NAMESPACE {

/// The columns that a row sees, and the whole vectors around them.
template <typename T> struct RowExtent {
  int64_t first, last; ///< empty: 0, 0
  int64_t begin, end;
  RowExtent(const ScoreBlock<T> &block, int64_t r)
      : first(block.firstVisible[r]), last(block.lastVisible[r]) {
    const int64_t lanes = hn::Lanes(hn::ScalableTag<T>());
    if (last <= first)
      first = last = 0;
    begin = first / lanes * lanes, end = (last + lanes - 1) / lanes * lanes;
  }
  /// True when the vector at `column` holds columns that the row does not see.
  bool isEdge(int64_t column) const {
    return column < first || column + static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())) > last;
  }
  /// `values`, the vector at `column`, with `hidden` where the row does not see the column.
  template <typename V> HWY_INLINE V hide(int64_t column, V values, T hidden) const {
    const hn::ScalableTag<T> d;
    const auto columns = hn::Iota(d, static_cast<T>(column));
    const auto sees = hn::And(hn::Ge(columns, hn::Set(d, static_cast<T>(first))),
                              hn::Lt(columns, hn::Set(d, static_cast<T>(last))));
    return hn::IfThenElse(sees, values, hn::Set(d, hidden));
  }
  /// Zeros in all columns of the block that none of the vectors holds.
  void clearOutside(const ScoreBlock<T> &block, T *row) const {
    const hn::ScalableTag<T> d;
    const int64_t lanes = hn::Lanes(d);
    for (int64_t c = 0; c < begin; c += lanes)
      hn::Store(hn::Zero(d), d, row + c);
    for (int64_t c = end; c < block.columns; c += lanes)
      hn::Store(hn::Zero(d), d, row + c);
  }
};

/// Columns within the extent that the row does not see one by one: by their position or their segment.
template <typename T>
void hideElements(const ScoreBlock<T> &block, int64_t r, const RowExtent<T> &extent, T *row, T hidden) {
  if (block.positions) {
    const int32_t least = block.leastPosition[r], most = block.mostPosition[r];
    for (int64_t c = extent.first; c < extent.last; ++c)
      row[c] = block.positions[c] >= least && block.positions[c] <= most ? row[c] : hidden;
  }
  if (block.keySegments) {
    const int32_t segment = block.querySegments[r];
    for (int64_t c = extent.first; c < extent.last; ++c)
      row[c] = block.keySegments[c] == segment ? row[c] : hidden;
  }
}

/// Plain products to scores: scale, then softcap; -infinity where the row does not see a column of its
/// vectors. Returns the largest, at least `start`.
template <typename T> T scoreRow(const ScoreBlock<T> &block, int64_t r, const RowExtent<T> &extent, T start) {
  constexpr T kMasked = -std::numeric_limits<T>::infinity();
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, block.scale), cap = hn::Set(d, block.softcap);
  T *row = block.scores + r * block.stride;
  auto most = hn::Set(d, start);
  for (int64_t c = extent.begin; c < extent.end; c += lanes) {
    auto score = hn::Mul(hn::Load(d, row + c), scale);
    if (block.softcap > 0)
      score = hn::Mul(cap, hn::Tanh(d, hn::Div(score, cap)));
    if (extent.isEdge(c))
      score = extent.hide(c, score, kMasked);
    hn::Store(score, d, row + c);
    most = hn::Max(most, score);
  }
  if (block.hidesElements()) {
    hideElements(block, r, extent, row, kMasked);
    most = hn::Set(d, start);
    for (int64_t c = extent.begin; c < extent.end; c += lanes)
      most = hn::Max(most, hn::Load(d, row + c));
  }
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

/// The nearest values of bfloat16, of two equally near the even one; NaN for NaN. Doubles stay as they are.
template <typename D, typename V> HWY_INLINE V roundToBFloat16(D d, V x) {
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    const hn::RebindToUnsigned<D> bits;
    const auto from = hn::BitCast(bits, x);
    const auto odd = hn::And(hn::ShiftRight<16>(from), hn::Set(bits, 1u));
    const auto sum = hn::Add(from, hn::Add(odd, hn::Set(bits, 0x7fffu)));
    const auto rounded = hn::BitCast(d, hn::And(sum, hn::Set(bits, 0xffff0000u)));
    return hn::IfThenElse(hn::Eq(x, x), rounded, x);
  } else {
    return x;
  }
}

/// Turns scores into weights relative to `maximum`; returns their sum.
template <typename T> T weighRow(T *row, const RowExtent<T> &extent, T maximum, bool rounds) {
  const hn::ScalableTag<T> d;
  const auto most = hn::Set(d, maximum);
  auto sum = hn::Zero(d);
  for (int64_t c = extent.begin; c < extent.end; c += hn::Lanes(d)) {
    const auto weight = expOfNonPositive(d, hn::Sub(hn::Load(d, row + c), most));
    hn::Store(rounds ? roundToBFloat16(d, weight) : weight, d, row + c);
    sum = hn::Add(sum, weight);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <typename T> T expOfOne(T x) {
  const hn::ScalableTag<T> d;
  return hn::GetLane(expOfNonPositive(d, hn::Set(d, x)));
}

template <typename T>
void softmaxRowsOf(const ScoreBlock<T> &block, T *maximum, T *sum, T *output, int64_t width) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  for (int64_t r = 0; r < block.rows; ++r) {
    T *row = block.scores + r * block.stride;
    const RowExtent<T> extent(block, r);
    extent.clearOutside(block, row);
    if (extent.begin == extent.end)
      continue;
    const T before = maximum[r], after = scoreRow(block, r, extent, before);
    const T base = after == kNone ? T(0) : after;
    const T blockSum = weighRow(row, extent, base, block.rounds);
    maximum[r] = after;
    if (before == kNone || before == after) { // nothing to rescale
      sum[r] += blockSum;
      continue;
    }
    const T factor = expOfOne(before - base);
    sum[r] = sum[r] * factor + blockSum;
    T *out = output + r * width;
    for (int64_t i = 0; i < width; ++i)
      out[i] *= factor;
  }
}

/// Products and gradients of the weights of a row, to weights and gradients of the products.
template <typename T, bool kCapped>
HWY_INLINE void gradientRow(const ScoreBlock<T> &block, const RowExtent<T> &extent, T *row, T *gradientRow,
                            T lse, T dot) {
  const hn::ScalableTag<T> d;
  const auto scale = hn::Set(d, block.scale), cap = hn::Set(d, block.softcap);
  const auto base = hn::Set(d, lse), center = hn::Set(d, dot), one = hn::Set(d, T(1));
  for (int64_t c = extent.begin; c < extent.end; c += hn::Lanes(d)) {
    auto score = hn::Mul(hn::Load(d, row + c), scale);
    auto inner = hn::Sub(hn::Load(d, gradientRow + c), center);
    if constexpr (kCapped) {
      // d cap tanh(x / cap) / dx = 1 - tanh^2.
      const auto tanh = hn::Tanh(d, hn::Div(score, cap));
      score = hn::Mul(cap, tanh);
      inner = hn::Mul(inner, hn::Sub(one, hn::Mul(tanh, tanh)));
    }
    auto weight = expOfNonPositive(d, hn::Sub(score, base));
    auto gradient = hn::Mul(hn::Mul(weight, inner), scale);
    if (extent.isEdge(c))
      weight = extent.hide(c, weight, T(0)), gradient = extent.hide(c, gradient, T(0));
    if (block.rounds)
      weight = roundToBFloat16(d, weight), gradient = roundToBFloat16(d, gradient);
    hn::Store(weight, d, row + c);
    hn::Store(gradient, d, gradientRow + c);
  }
}

template <typename T>
void scoreGradientRowsOf(const ScoreBlock<T> &block, T *gradient, const T *lse, const T *dot) {
  for (int64_t r = 0; r < block.rows; ++r) {
    T *row = block.scores + r * block.stride, *rowGradient = gradient + r * block.stride;
    const RowExtent<T> extent(block, r);
    extent.clearOutside(block, row);
    extent.clearOutside(block, rowGradient);
    const T base = lse[r] == -std::numeric_limits<T>::infinity() ? T(0) : lse[r];
    if (block.softcap > 0)
      gradientRow<T, true>(block, extent, row, rowGradient, base, dot[r]);
    else
      gradientRow<T, false>(block, extent, row, rowGradient, base, dot[r]);
    if (block.hidesElements()) {
      hideElements(block, r, extent, row, T(0));
      hideElements(block, r, extent, rowGradient, T(0));
    }
  }
}

template <typename T>
void dotRowsOf(const T *a, int64_t aStride, const T *b, int64_t bStride, int64_t rows, int64_t width,
               T *dot) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  for (int64_t r = 0; r < rows; ++r) {
    const T *left = a + r * aStride, *right = b + r * bStride;
    auto sums = hn::Zero(d);
    int64_t i = 0;
    for (; i + lanes <= width; i += lanes)
      sums = hn::MulAdd(hn::LoadU(d, left + i), hn::LoadU(d, right + i), sums);
    T sum = hn::GetLane(hn::SumOfLanes(d, sums));
    for (; i < width; ++i)
      sum += left[i] * right[i];
    dot[r] = sum;
  }
}

void softmaxRowsFloat(const ScoreBlock<float> &block, float *maximum, float *sum, float *output,
                      int64_t width) {
  softmaxRowsOf(block, maximum, sum, output, width);
}
void softmaxRowsDouble(const ScoreBlock<double> &block, double *maximum, double *sum, double *output,
                       int64_t width) {
  softmaxRowsOf(block, maximum, sum, output, width);
}
void scoreGradientRowsFloat(const ScoreBlock<float> &block, float *gradient, const float *lse,
                            const float *dot) {
  scoreGradientRowsOf(block, gradient, lse, dot);
}
void scoreGradientRowsDouble(const ScoreBlock<double> &block, double *gradient, const double *lse,
                             const double *dot) {
  scoreGradientRowsOf(block, gradient, lse, dot);
}
void dotRowsFloat(const float *a, int64_t aStride, const float *b, int64_t bStride, int64_t rows,
                  int64_t width, float *dot) {
  dotRowsOf(a, aStride, b, bStride, rows, width, dot);
}
void dotRowsDouble(const double *a, int64_t aStride, const double *b, int64_t bStride, int64_t rows,
                   int64_t width, double *dot) {
  dotRowsOf(a, aStride, b, bStride, rows, width, dot);
}

} // namespace HWY_NAMESPACE
} // namespace weft::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::cpu {

HWY_EXPORT(softmaxRowsFloat);
HWY_EXPORT(softmaxRowsDouble);
HWY_EXPORT(scoreGradientRowsFloat);
HWY_EXPORT(scoreGradientRowsDouble);
HWY_EXPORT(dotRowsFloat);
HWY_EXPORT(dotRowsDouble);

void softmaxRows(const ScoreBlock<float> &block, float *maximum, float *sum, float *output, int64_t width) {
  HWY_DYNAMIC_DISPATCH(softmaxRowsFloat)(block, maximum, sum, output, width);
}
void softmaxRows(const ScoreBlock<double> &block, double *maximum, double *sum, double *output,
                 int64_t width) {
  HWY_DYNAMIC_DISPATCH(softmaxRowsDouble)(block, maximum, sum, output, width);
}
void scoreGradientRows(const ScoreBlock<float> &block, float *gradient, const float *lse, const float *dot) {
  HWY_DYNAMIC_DISPATCH(scoreGradientRowsFloat)(block, gradient, lse, dot);
}
void scoreGradientRows(const ScoreBlock<double> &block, double *gradient, const double *lse,
                       const double *dot) {
  HWY_DYNAMIC_DISPATCH(scoreGradientRowsDouble)(block, gradient, lse, dot);
}
void dotRows(const float *a, int64_t aStride, const float *b, int64_t bStride, int64_t rows, int64_t width,
             float *dot) {
  HWY_DYNAMIC_DISPATCH(dotRowsFloat)(a, aStride, b, bStride, rows, width, dot);
}
void dotRows(const double *a, int64_t aStride, const double *b, int64_t bStride, int64_t rows, int64_t width,
             double *dot) {
  HWY_DYNAMIC_DISPATCH(dotRowsDouble)(a, aStride, b, bStride, rows, width, dot);
}

} // namespace weft::cpu
#endif // HWY_ONCE
