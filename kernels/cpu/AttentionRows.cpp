//===- AttentionRows.cpp - Online softmax and its gradient, vectorized ----===//
//
// One source for all instruction sets (Highway). A row of a block is at most some hundred scores and stays in
// the first-level cache, so each step is its own pass over the row. A row that has seen no key yet has
// maximum -infinity; its weights are taken against 0 instead, which leaves them exactly 0.
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

/// Plain products to scores: scale, then softcap.
template <typename T> void scaleRow(const ScoreBlock<T> &block, T *row, int64_t padded) {
  const hn::ScalableTag<T> d;
  const auto scale = hn::Set(d, block.scale), cap = hn::Set(d, block.softcap);
  if (block.softcap > 0) {
    for (int64_t c = 0; c < padded; c += hn::Lanes(d)) {
      const auto score = hn::Mul(hn::Load(d, row + c), scale);
      hn::Store(hn::Mul(cap, hn::Tanh(d, hn::Div(score, cap))), d, row + c);
    }
    return;
  }
  for (int64_t c = 0; c < padded; c += hn::Lanes(d))
    hn::Store(hn::Mul(hn::Load(d, row + c), scale), d, row + c);
}

template <typename T> void maskRow(const ScoreBlock<T> &block, int64_t r, T *row, int64_t padded) {
  constexpr T kMasked = -std::numeric_limits<T>::infinity();
  int64_t first = block.firstVisible[r], last = block.lastVisible[r];
  if (block.positions) {
    const auto least = static_cast<int32_t>(first), most = static_cast<int32_t>(last);
    for (int64_t c = 0; c < block.columns; ++c)
      row[c] = block.positions[c] >= least && block.positions[c] <= most ? row[c] : kMasked;
    first = 0, last = block.columns;
  }
  if (last < first)
    last = first;
  for (int64_t c = 0; c < first; ++c)
    row[c] = kMasked;
  for (int64_t c = last; c < padded; ++c)
    row[c] = kMasked;
  if (!block.querySegments)
    return;
  const int32_t segment = block.querySegments[r];
  for (int64_t c = first; c < last; ++c)
    row[c] = block.keySegments[c] == segment ? row[c] : kMasked;
}

template <typename T> T maximumOfRow(const T *row, int64_t padded, T start) {
  const hn::ScalableTag<T> d;
  auto most = hn::Set(d, start);
  for (int64_t c = 0; c < padded; c += hn::Lanes(d))
    most = hn::Max(most, hn::Load(d, row + c));
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

/// Turns scores into weights relative to `maximum`; returns their sum.
template <typename T> T weighRow(T *row, int64_t padded, T maximum) {
  const hn::ScalableTag<T> d;
  const auto most = hn::Set(d, maximum);
  auto sum = hn::Zero(d);
  for (int64_t c = 0; c < padded; c += hn::Lanes(d)) {
    const auto weight = expOfNonPositive(d, hn::Sub(hn::Load(d, row + c), most));
    hn::Store(weight, d, row + c);
    sum = hn::Add(sum, weight);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <typename T> T expOfOne(T x) {
  const hn::ScalableTag<T> d;
  return hn::GetLane(expOfNonPositive(d, hn::Set(d, x)));
}

template <typename T>
void softmaxRowsOf(const ScoreBlock<T> &block, T *maximum, T *sum, T *output, int64_t width, bool first) {
  const int64_t padded = padColumns(block.columns);
  for (int64_t r = 0; r < block.rows; ++r) {
    T *row = block.scores + r * block.stride;
    scaleRow(block, row, padded);
    maskRow(block, r, row, padded);
    constexpr T kNone = -std::numeric_limits<T>::infinity();
    const T before = first ? kNone : maximum[r];
    const T after = maximumOfRow(row, padded, before);
    const T base = after == kNone ? T(0) : after;
    const T blockSum = weighRow(row, padded, base);
    maximum[r] = after;
    if (first) {
      sum[r] = blockSum;
    } else if (before == after) {
      sum[r] += blockSum;
    } else {
      const T factor = expOfOne(before - base);
      sum[r] = sum[r] * factor + blockSum;
      T *out = output + r * width;
      for (int64_t i = 0; i < width; ++i)
        out[i] *= factor;
    }
  }
}

template <typename T>
void scoreGradientRowsOf(const ScoreBlock<T> &block, T *gradient, const T *lse, const T *dot) {
  const hn::ScalableTag<T> d;
  const int64_t padded = padColumns(block.columns);
  for (int64_t r = 0; r < block.rows; ++r) {
    T *row = block.scores + r * block.stride, *gradientRow = gradient + r * block.stride;
    scaleRow(block, row, padded);
    if (block.softcap > 0) {
      // d cap tanh(x / cap) / dx = 1 - tanh^2. Taken before the mask, which would make it 1 - infinity.
      const auto caps = hn::Set(d, block.softcap), one = hn::Set(d, T(1)), center = hn::Set(d, dot[r]);
      for (int64_t c = 0; c < padded; c += hn::Lanes(d)) {
        const auto tanh = hn::Div(hn::Load(d, row + c), caps);
        const auto slope = hn::Sub(one, hn::Mul(tanh, tanh));
        hn::Store(hn::Mul(hn::Sub(hn::Load(d, gradientRow + c), center), slope), d, gradientRow + c);
      }
    }
    maskRow(block, r, row, padded);
    weighRow(row, padded, lse[r] == -std::numeric_limits<T>::infinity() ? T(0) : lse[r]);
    const auto center = hn::Set(d, block.softcap > 0 ? T(0) : dot[r]), scale = hn::Set(d, block.scale);
    for (int64_t c = 0; c < padded; c += hn::Lanes(d)) {
      const auto inner = hn::Sub(hn::Load(d, gradientRow + c), center);
      hn::Store(hn::Mul(hn::Mul(hn::Load(d, row + c), inner), scale), d, gradientRow + c);
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
                      int64_t width, bool first) {
  softmaxRowsOf(block, maximum, sum, output, width, first);
}
void softmaxRowsDouble(const ScoreBlock<double> &block, double *maximum, double *sum, double *output,
                       int64_t width, bool first) {
  softmaxRowsOf(block, maximum, sum, output, width, first);
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

void softmaxRows(const ScoreBlock<float> &block, float *maximum, float *sum, float *output, int64_t width,
                 bool first) {
  HWY_DYNAMIC_DISPATCH(softmaxRowsFloat)(block, maximum, sum, output, width, first);
}
void softmaxRows(const ScoreBlock<double> &block, double *maximum, double *sum, double *output, int64_t width,
                 bool first) {
  HWY_DYNAMIC_DISPATCH(softmaxRowsDouble)(block, maximum, sum, output, width, first);
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
