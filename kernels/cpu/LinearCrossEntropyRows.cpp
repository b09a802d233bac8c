//===- LinearCrossEntropyRows.cpp - Log-sum-exp and its gradient, vectorized ===//
//
// One source for all instruction sets (Highway). A tile was just written by its product and lies in the
// second-level cache; each row takes one pass for its maximum and one for its sum.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/LinearCrossEntropyRows.h"

#include "kernels/cpu/LinearCrossEntropyShape.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/LinearCrossEntropyRows.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/cpu/AttentionExp-inl.h"
#include "kernels/cpu/Float16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::cpu {
namespace HWY_NAMESPACE {

template <typename T> void capLogitsOf(const LogitTile<T> &tile, T cap) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  const auto caps = hn::Set(d, cap);
  for (int64_t r = 0; r < tile.rows; ++r) {
    T *row = tile.logits + r * tile.stride;
    for (int64_t c = 0; c < tile.columns; c += lanes)
      hn::Store(hn::Mul(caps, hn::Tanh(d, hn::Div(hn::Load(d, row + c), caps))), d, row + c);
  }
}

/// Two accumulators each, so that the additions of one vector need not wait for those of the last.
template <typename T> T sumOfRow(const T *row, int64_t columns) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  auto even = hn::Zero(d), odd = hn::Zero(d);
  int64_t c = 0;
  for (; c + 2 * lanes <= columns; c += 2 * lanes) {
    even = hn::Add(even, hn::Load(d, row + c));
    odd = hn::Add(odd, hn::Load(d, row + c + lanes));
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; c < columns; ++c)
    sum += row[c];
  return sum;
}

template <typename T> T maximumOfRow(const T *row, int64_t columns) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  auto most = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (int64_t c = 0; c < columns; c += lanes)
    most = hn::Max(most, hn::Load(d, row + c));
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

template <typename T> T sumOfExponentials(const T *row, int64_t columns, T maximum) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  const auto most = hn::Set(d, maximum);
  auto sum = hn::Zero(d);
  for (int64_t c = 0; c < columns; c += lanes)
    sum = hn::Add(sum, expOfNonPositive(d, hn::Sub(hn::Load(d, row + c), most)));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <typename T> void reduceLogitsOf(const LogitTile<T> &tile, T *maximum, T *sum, T *total) {
  const int64_t lanes = hn::Lanes(hn::ScalableTag<T>());
  const int64_t padded = (tile.columns + lanes - 1) / lanes * lanes;
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  for (int64_t r = 0; r < tile.rows; ++r) {
    T *row = tile.logits + r * tile.stride;
    std::fill(row + tile.columns, row + padded, kNone);
    if (total)
      total[r] = sumOfRow(row, tile.columns);
    maximum[r] = maximumOfRow(row, padded);
    sum[r] = sumOfExponentials(row, padded, maximum[r] == kNone ? T(0) : maximum[r]);
  }
}

template <typename T>
void differentiateLogitsOf(T *row, int64_t columns, T cap, const LogitGradient<T> &gradient) {
  if (!gradient.counts) {
    std::fill_n(row, columns, T(0));
    return;
  }
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  const auto lse = hn::Set(d, gradient.lse), factor = hn::Set(d, gradient.factor),
             share = hn::Set(d, gradient.share);
  const auto one = hn::Set(d, T(1)), caps = hn::Set(d, cap);
  for (int64_t c = 0; c < columns; c += lanes) {
    const auto logit = hn::Load(d, row + c);
    auto value = hn::Sub(hn::Mul(factor, expOfNonPositive(d, hn::Sub(logit, lse))), share);
    if (cap > 0) {
      const auto tanh = hn::Div(logit, caps);
      value = hn::Mul(value, hn::Sub(one, hn::Mul(tanh, tanh)));
    }
    hn::Store(value, d, row + c);
  }
}

void roundGradientsOf(float *row, int64_t columns) { roundAllToBf16(row, columns); }

/// Through a buffer, which no store overtakes.
void narrowGradientsOf(float *row, int64_t columns) {
  float values[kMostTileColumns];
  std::copy_n(row, columns, values);
  storeBf16(reinterpret_cast<uint16_t *>(row), values, columns);
}

void capLogitsFloat(const LogitTile<float> &tile, float cap) { capLogitsOf(tile, cap); }
void capLogitsDouble(const LogitTile<double> &tile, double cap) { capLogitsOf(tile, cap); }
void reduceLogitsFloat(const LogitTile<float> &tile, float *maximum, float *sum, float *total) {
  reduceLogitsOf(tile, maximum, sum, total);
}
void reduceLogitsDouble(const LogitTile<double> &tile, double *maximum, double *sum, double *total) {
  reduceLogitsOf(tile, maximum, sum, total);
}
void differentiateLogitsFloat(float *row, int64_t columns, float cap, const LogitGradient<float> &gradient) {
  differentiateLogitsOf(row, columns, cap, gradient);
}
void differentiateLogitsDouble(double *row, int64_t columns, double cap,
                               const LogitGradient<double> &gradient) {
  differentiateLogitsOf(row, columns, cap, gradient);
}

} // namespace HWY_NAMESPACE
} // namespace weft::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::cpu {

HWY_EXPORT(capLogitsFloat);
HWY_EXPORT(capLogitsDouble);
HWY_EXPORT(reduceLogitsFloat);
HWY_EXPORT(reduceLogitsDouble);
HWY_EXPORT(differentiateLogitsFloat);
HWY_EXPORT(differentiateLogitsDouble);
HWY_EXPORT(roundGradientsOf);
HWY_EXPORT(narrowGradientsOf);

void capLogits(const LogitTile<float> &tile, float cap) { HWY_DYNAMIC_DISPATCH(capLogitsFloat)(tile, cap); }
void capLogits(const LogitTile<double> &tile, double cap) {
  HWY_DYNAMIC_DISPATCH(capLogitsDouble)(tile, cap);
}
void reduceLogits(const LogitTile<float> &tile, float *maximum, float *sum, float *total) {
  HWY_DYNAMIC_DISPATCH(reduceLogitsFloat)(tile, maximum, sum, total);
}
void reduceLogits(const LogitTile<double> &tile, double *maximum, double *sum, double *total) {
  HWY_DYNAMIC_DISPATCH(reduceLogitsDouble)(tile, maximum, sum, total);
}
void differentiateLogits(float *row, int64_t columns, float cap, const LogitGradient<float> &gradient) {
  HWY_DYNAMIC_DISPATCH(differentiateLogitsFloat)(row, columns, cap, gradient);
}
void differentiateLogits(double *row, int64_t columns, double cap, const LogitGradient<double> &gradient) {
  HWY_DYNAMIC_DISPATCH(differentiateLogitsDouble)(row, columns, cap, gradient);
}
void roundGradients(float *row, int64_t columns) { HWY_DYNAMIC_DISPATCH(roundGradientsOf)(row, columns); }
void narrowGradients(float *row, int64_t columns) { HWY_DYNAMIC_DISPATCH(narrowGradientsOf)(row, columns); }

} // namespace weft::cpu
#endif // HWY_ONCE
