//===- NormLoops.cpp - Normalizing rows, forward and backward -------------===//
#include "kernels/cpu/NormLoops.h"

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

constexpr int64_t kLanes = 16;

template <typename T> HWY_INLINE T foldLanes(T *lanes) {
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i)
      lanes[i] += lanes[half + i];
  return lanes[0];
}

/// lanes[i mod 16] += term(i) over a piece, which starts at a multiple of 16.
#define WEFT_ADD_TO_LANES(lanes, count, term)                                                                \
  do {                                                                                                       \
    int64_t i0 = 0;                                                                                          \
    for (; i0 + kLanes <= (count); i0 += kLanes)                                                             \
      for (int64_t lane = 0; lane < kLanes; ++lane) {                                                        \
        const int64_t i = i0 + lane;                                                                         \
        (lanes)[lane] += (term);                                                                             \
      }                                                                                                      \
    for (int64_t i = i0; i < (count); ++i)                                                                   \
      (lanes)[i - i0] += (term);                                                                             \
  } while (false)

template <typename T> HWY_INLINE T meanOfRow(const NormForward &norm, int64_t row) {
  alignas(64) T lanes[kLanes] = {}, buffer[kPiece];
  for (int64_t begin = 0; begin < norm.width; begin += kPiece) {
    int64_t count = HWY_MIN(kPiece, norm.width - begin);
    const T *x = readPiece<T>(norm.xType, norm.x, row * norm.width + begin, count, buffer);
    WEFT_ADD_TO_LANES(lanes, count, x[i]);
  }
  return foldLanes(lanes) / static_cast<T>(norm.width);
}

template <typename T> HWY_INLINE T meanSquareOfRow(const NormForward &norm, int64_t row, T mean) {
  alignas(64) T lanes[kLanes] = {}, buffer[kPiece];
  for (int64_t begin = 0; begin < norm.width; begin += kPiece) {
    int64_t count = HWY_MIN(kPiece, norm.width - begin);
    const T *x = readPiece<T>(norm.xType, norm.x, row * norm.width + begin, count, buffer);
    WEFT_ADD_TO_LANES(lanes, count, (x[i] - mean) * (x[i] - mean));
  }
  return foldLanes(lanes) / static_cast<T>(norm.width);
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
    alignas(64) T products[kLanes] = {}, gradients[kLanes] = {};
    for (int64_t piece = 0; piece < norm.width; piece += kPiece) {
      int64_t count = HWY_MIN(kPiece, norm.width - piece), position = row * norm.width + piece;
      const T *dy = readPiece<T>(norm.dyType, norm.dy, position, count, dyBuffer);
      const T *x = readPiece<T>(norm.xType, norm.x, position, count, xBuffer);
      const T *HWY_RESTRICT w = readPiece<T>(norm.weightType, norm.weight, piece, count, weightBuffer);
      WEFT_ADD_TO_LANES(products, count, dy[i] * (w[i] + offset) * ((x[i] - mean) * rstd));
      T *HWY_RESTRICT dwPiece = dw + piece;
      for (int64_t i = 0; i < count; ++i)
        dwPiece[i] += dy[i] * ((x[i] - mean) * rstd);
      if (norm.isCentered) {
        WEFT_ADD_TO_LANES(gradients, count, dy[i] * (w[i] + offset));
        T *HWY_RESTRICT dbPiece = db + piece;
        for (int64_t i = 0; i < count; ++i)
          dbPiece[i] += dy[i];
      }
    }
    const T slope = foldLanes(products) / static_cast<T>(norm.width);
    const T shift = foldLanes(gradients) / static_cast<T>(norm.width);
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
#undef WEFT_ADD_TO_LANES

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
