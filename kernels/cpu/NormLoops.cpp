//===- NormLoops.cpp - Normalizing rows, forward and backward -------------===//
#include "kernels/cpu/NormLoops.h"

#include "kernels/common/ElementwiseOps.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/NormLoops.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "kernels/cpu/Rows-inl.h"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace weft::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kLanes = kReductionLanes;

/// The sum of a row of `width` elements, in the order of the `reduce` kernel.
template <typename T> HWY_INLINE T foldLanes(T *lanes, int64_t width) {
  if (width >= kLanes) { // the same, of a known length
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t i = 0; i < half; ++i)
        lanes[i] += lanes[half + i];
    return lanes[0];
  }
  for (int64_t count = width; count > 1;) {
    const int64_t half = (count + 1) / 2;
    for (int64_t i = 0; i < count - half; ++i)
      lanes[i] += lanes[half + i];
    count = half;
  }
  return lanes[0];
}

/// The mean is what the decomposition takes: the sum times the rounded reciprocal.
template <typename T> HWY_INLINE T meanOf(T *lanes, int64_t width) {
  return foldLanes(lanes, width) * static_cast<T>(1.0 / static_cast<double>(width));
}

/// Loads and stores a whole vector, or its first lanes.
template <class D> struct WholeVector {
  D d;
  template <typename T> HWY_INLINE hn::Vec<D> load(const T *from) const { return hn::LoadU(d, from); }
  template <typename T> HWY_INLINE void store(hn::Vec<D> value, T *to) const { hn::StoreU(value, d, to); }
};
template <class D> struct FirstLanes {
  D d;
  hn::Mask<D> mask;
  template <typename T> HWY_INLINE hn::Vec<D> load(const T *from) const {
    return hn::MaskedLoad(mask, d, from);
  }
  template <typename T> HWY_INLINE void store(hn::Vec<D> value, T *to) const {
    hn::BlendedStore(value, mask, d, to);
  }
};

/// lanes[i mod 64] += term(vector, i) over a piece, which starts at a multiple of 64: `vector` loads and
/// stores the elements from i on.
template <typename T, class Term> HWY_INLINE void addToLanes(T *lanes, int64_t count, const Term &term) {
  const hn::ScalableTag<T> d;
  using Vector = hn::Vec<decltype(d)>;
  constexpr int64_t kWidth = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  constexpr int64_t kVectors = kLanes / kWidth;
  Vector sums[kVectors];
  for (int64_t v = 0; v < kVectors; ++v)
    sums[v] = hn::Load(d, lanes + v * kWidth);
  const WholeVector<decltype(d)> whole{d};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t v = 0; v < kVectors; ++v)
      sums[v] = hn::Add(sums[v], term(whole, i + v * kWidth));
  for (int64_t v = 0; v < kVectors; ++v) {
    const int64_t left = count - i - v * kWidth;
    if (left >= kWidth) {
      sums[v] = hn::Add(sums[v], term(whole, i + v * kWidth));
    } else if (left > 0) {
      const FirstLanes<decltype(d)> first{d, hn::FirstN(d, static_cast<size_t>(left))};
      sums[v] = hn::IfThenElse(first.mask, hn::Add(sums[v], term(first, i + v * kWidth)), sums[v]);
    }
  }
  for (int64_t v = 0; v < kVectors; ++v)
    hn::Store(sums[v], d, lanes + v * kWidth);
}

template <typename T> HWY_INLINE T meanOfRow(const NormForward &norm, int64_t row) {
  alignas(64) T lanes[kLanes] = {}, buffer[kPiece];
  for (int64_t begin = 0; begin < norm.width; begin += kPiece) {
    int64_t count = HWY_MIN(kPiece, norm.width - begin);
    const T *x = readPiece<T>(norm.xType, norm.x, row * norm.width + begin, count, buffer);
    addToLanes(lanes, count, [x](const auto &vector, int64_t i) HWY_ATTR { return vector.load(x + i); });
  }
  return meanOf(lanes, norm.width);
}

template <typename T> HWY_INLINE T meanSquareOfRow(const NormForward &norm, int64_t row, T mean) {
  alignas(64) T lanes[kLanes] = {}, buffer[kPiece];
  const auto center = hn::Set(hn::ScalableTag<T>(), mean);
  for (int64_t begin = 0; begin < norm.width; begin += kPiece) {
    int64_t count = HWY_MIN(kPiece, norm.width - begin);
    const T *x = readPiece<T>(norm.xType, norm.x, row * norm.width + begin, count, buffer);
    addToLanes(lanes, count, [=](const auto &vector, int64_t i) HWY_ATTR {
      const auto centered = hn::Sub(vector.load(x + i), center);
      return hn::Mul(centered, centered);
    });
  }
  return meanOf(lanes, norm.width);
}

template <typename T> void normalize(const NormForward &norm, int64_t begin, int64_t end) {
  alignas(64) T xBuffer[kPiece], weightBuffer[kPiece], biasBuffer[kPiece], y[kPiece];
  const T offset = static_cast<T>(norm.offset);
  for (int64_t row = begin; row < end; ++row) {
    const T mean = norm.isCentered ? meanOfRow<T>(norm, row) : T{0};
    const T rstd = T{1} / std::sqrt(meanSquareOfRow<T>(norm, row, mean) + static_cast<T>(norm.epsilon));
    norm.rstd[row] = static_cast<float>(rstd);
    if (norm.isCentered)
      norm.mean[row] = static_cast<float>(mean);
    for (int64_t piece = 0; piece < norm.width; piece += kPiece) {
      int64_t count = HWY_MIN(kPiece, norm.width - piece), position = row * norm.width + piece;
      const T *x = readPiece<T>(norm.xType, norm.x, position, count, xBuffer);
      const T *HWY_RESTRICT w = readPiece<T>(norm.weightType, norm.weight, piece, count, weightBuffer);
      for (int64_t i = 0; i < count; ++i)
        y[i] = (x[i] - mean) * rstd * (w[i] + offset);
      if (norm.isCentered) {
        const T *HWY_RESTRICT b = readPiece<T>(norm.biasType, norm.bias, piece, count, biasBuffer);
        for (int64_t i = 0; i < count; ++i)
          y[i] += b[i];
      }
      writePiece<T>(norm.yType, norm.y, position, y, count);
    }
  }
}

/// With xhat = (x - mean) rstd and g = dy (w + offset):
/// dx = rstd (g - mean(g) [centered] - xhat mean(g xhat)), dw = sum dy xhat, db = sum dy.
template <typename T>
void normalizeBackward(const NormBackward &norm, int64_t begin, int64_t end, void *weightSums,
                       void *biasSums) {
  alignas(64) T dyBuffer[kPiece], xBuffer[kPiece], weightBuffer[kPiece], dx[kPiece];
  const T offset = static_cast<T>(norm.offset);
  auto *HWY_RESTRICT dw = static_cast<T *>(weightSums);
  auto *HWY_RESTRICT db = static_cast<T *>(biasSums);
  std::fill_n(dw, norm.width, T{0});
  if (norm.isCentered)
    std::fill_n(db, norm.width, T{0});
  for (int64_t row = begin; row < end; ++row) {
    const T mean = norm.isCentered ? static_cast<T>(norm.mean[row]) : T{0},
            rstd = static_cast<T>(norm.rstd[row]);
    const hn::ScalableTag<T> d;
    const auto center = hn::Set(d, mean), scale = hn::Set(d, rstd), shiftOfWeight = hn::Set(d, offset);
    alignas(64) T products[kLanes] = {}, gradients[kLanes] = {};
    for (int64_t piece = 0; piece < norm.width; piece += kPiece) {
      int64_t count = HWY_MIN(kPiece, norm.width - piece), position = row * norm.width + piece;
      const T *dy = readPiece<T>(norm.dyType, norm.dy, position, count, dyBuffer);
      const T *x = readPiece<T>(norm.xType, norm.x, position, count, xBuffer);
      const T *HWY_RESTRICT w = readPiece<T>(norm.weightType, norm.weight, piece, count, weightBuffer);
      T *dwPiece = dw + piece, *dbPiece = db + piece;
      addToLanes(products, count, [=](const auto &vector, int64_t i) HWY_ATTR {
        const auto gradient = vector.load(dy + i);
        const auto normalized = hn::Mul(hn::Sub(vector.load(x + i), center), scale);
        vector.store(hn::Add(vector.load(dwPiece + i), hn::Mul(gradient, normalized)), dwPiece + i);
        return hn::Mul(hn::Mul(gradient, hn::Add(vector.load(w + i), shiftOfWeight)), normalized);
      });
      if (norm.isCentered)
        addToLanes(gradients, count, [=](const auto &vector, int64_t i) HWY_ATTR {
          const auto gradient = vector.load(dy + i);
          vector.store(hn::Add(vector.load(dbPiece + i), gradient), dbPiece + i);
          return hn::Mul(gradient, hn::Add(vector.load(w + i), shiftOfWeight));
        });
    }
    const T slope = meanOf(products, norm.width);
    const T shift = meanOf(gradients, norm.width);
    for (int64_t piece = 0; piece < norm.width; piece += kPiece) {
      int64_t count = HWY_MIN(kPiece, norm.width - piece), position = row * norm.width + piece;
      const T *dy = readPiece<T>(norm.dyType, norm.dy, position, count, dyBuffer);
      const T *x = readPiece<T>(norm.xType, norm.x, position, count, xBuffer);
      const T *HWY_RESTRICT w = readPiece<T>(norm.weightType, norm.weight, piece, count, weightBuffer);
      for (int64_t i = 0; i < count; ++i)
        dx[i] = rstd * (dy[i] * (w[i] + offset) - shift - (x[i] - mean) * rstd * slope);
      writePiece<T>(norm.dxType, norm.dx, position, dx, count);
    }
  }
}

template <typename T>
void fold(const void *sums, int64_t blocks, int64_t stride, int64_t begin, int64_t end, DType resultType,
          void *result) {
  alignas(64) T total[kPiece];
  for (int64_t piece = begin; piece < end; piece += kPiece) {
    int64_t count = HWY_MIN(kPiece, end - piece);
    std::fill_n(total, count, T{0});
    for (int64_t block = 0; block < blocks; ++block) {
      const T *HWY_RESTRICT line = static_cast<const T *>(sums) + block * stride + piece;
      for (int64_t i = 0; i < count; ++i)
        total[i] += line[i];
    }
    writePiece<T>(resultType, result, piece, total, count);
  }
}

void forwardRows(const NormForward &norm, int64_t begin, int64_t end) {
  if (norm.xType == DType::F64)
    normalize<double>(norm, begin, end);
  else
    normalize<float>(norm, begin, end);
}
void backwardRows(const NormBackward &norm, int64_t begin, int64_t end, void *weightSums, void *biasSums) {
  if (norm.xType == DType::F64)
    normalizeBackward<double>(norm, begin, end, weightSums, biasSums);
  else
    normalizeBackward<float>(norm, begin, end, weightSums, biasSums);
}
void foldBlocksOf(DType sumType, const void *sums, int64_t blocks, int64_t stride, int64_t begin, int64_t end,
                  DType resultType, void *result) {
  if (sumType == DType::F64)
    fold<double>(sums, blocks, stride, begin, end, resultType, result);
  else
    fold<float>(sums, blocks, stride, begin, end, resultType, result);
}

} // namespace
} // namespace weft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::cpu {
HWY_EXPORT(forwardRows);
HWY_EXPORT(backwardRows);
HWY_EXPORT(foldBlocksOf);

void normalizeRows(const NormForward &norm, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(forwardRows)(norm, begin, end);
}
void normalizeRowsBackward(const NormBackward &norm, int64_t begin, int64_t end, void *weightSums,
                           void *biasSums) {
  HWY_DYNAMIC_DISPATCH(backwardRows)(norm, begin, end, weightSums, biasSums);
}
void foldBlocks(DType sumType, const void *sums, int64_t blocks, int64_t stride, int64_t begin, int64_t end,
                DType resultType, void *result) {
  HWY_DYNAMIC_DISPATCH(foldBlocksOf)(sumType, sums, blocks, stride, begin, end, resultType, result);
}
} // namespace weft::cpu
#endif // HWY_ONCE
