//===- Accumulate.cpp - Sums and extremes over registers ------------------===//
#include "kernels/cpu/Accumulate.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/Accumulate.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "kernels/cpu/Float16-inl.h"

#include <algorithm>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace weft::cpu::HWY_NAMESPACE {
namespace {

template <Combination kCombination, typename T> HWY_INLINE T combine(T a, T b) {
  if constexpr (kCombination == Combination::Sum) {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else // integers wrap around
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
  } else if constexpr (kCombination == Combination::Maximum) {
    return a > b || a != a ? a : b;
  } else {
    return a < b || a != a ? a : b;
  }
}

template <Combination kCombination, typename T>
void accumulateLoop(void *accumulators, const void *values, int64_t count) {
  auto *HWY_RESTRICT sums = static_cast<T *>(accumulators);
  auto *HWY_RESTRICT in = static_cast<const T *>(values);
  for (int64_t i = 0; i < count; ++i)
    sums[i] = combine<kCombination, T>(sums[i], in[i]);
}

template <Combination kCombination, typename T> void foldLoop(void *accumulators, int64_t count) {
  auto *lanes = static_cast<T *>(accumulators);
  while (count > 1) {
    int64_t half = (count + 1) / 2;
    for (int64_t i = 0; i < count - half; ++i)
      lanes[i] = combine<kCombination, T>(lanes[i], lanes[half + i]);
    count = half;
  }
}

template <Combination kCombination> AccumulateLoop accumulateLoopOf(DType type) {
  switch (type) {
  case DType::F64:
    return accumulateLoop<kCombination, double>;
  case DType::I64:
    return accumulateLoop<kCombination, int64_t>;
  case DType::I32:
    return accumulateLoop<kCombination, int32_t>;
  default:
    return accumulateLoop<kCombination, float>;
  }
}

template <Combination kCombination> FoldLoop foldLoopOf(DType type) {
  switch (type) {
  case DType::F64:
    return foldLoop<kCombination, double>;
  case DType::I64:
    return foldLoop<kCombination, int64_t>;
  case DType::I32:
    return foldLoop<kCombination, int32_t>;
  default:
    return foldLoop<kCombination, float>;
  }
}

AccumulateLoop findAccumulate(Combination combination, DType type) {
  return combination == Combination::Sum       ? accumulateLoopOf<Combination::Sum>(type)
         : combination == Combination::Maximum ? accumulateLoopOf<Combination::Maximum>(type)
                                               : accumulateLoopOf<Combination::Minimum>(type);
}
FoldLoop findFold(Combination combination, DType type) {
  return combination == Combination::Sum       ? foldLoopOf<Combination::Sum>(type)
         : combination == Combination::Maximum ? foldLoopOf<Combination::Maximum>(type)
                                               : foldLoopOf<Combination::Minimum>(type);
}

/// Adds the squares to 16 lanes; the caller's runs but the last are multiples of 16.
template <typename T> HWY_INLINE void addSquares(const T *values, int64_t count, double *HWY_RESTRICT lanes) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16)
    for (int64_t lane = 0; lane < 16; ++lane) {
      double value = static_cast<double>(values[i + lane]);
      lanes[lane] += value * value;
    }
  for (; i < count; ++i)
    lanes[i % 16] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
}

double squares(DType type, const void *values, int64_t count) {
  alignas(64) double lanes[16] = {};
  if (type == DType::F32) {
    addSquares(static_cast<const float *>(values), count, lanes);
  } else if (type == DType::F64) {
    addSquares(static_cast<const double *>(values), count, lanes);
  } else {
    constexpr int64_t kPart = 256;
    alignas(64) float wide[kPart];
    for (int64_t begin = 0; begin < count; begin += kPart) {
      int64_t part = count - begin < kPart ? count - begin : kPart;
      const uint16_t *stored = static_cast<const uint16_t *>(values) + begin;
      if (type == DType::BF16)
        loadBf16(wide, stored, part);
      else
        loadF16(wide, stored, part);
      addSquares(wide, part, lanes);
    }
  }
  foldLoop<Combination::Sum, double>(lanes, 16);
  return lanes[0];
}

} // namespace
} // namespace weft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::cpu {
HWY_EXPORT(findAccumulate);
HWY_EXPORT(findFold);
HWY_EXPORT(squares);

AccumulateLoop findAccumulateLoop(Combination combination, DType type) {
  return HWY_DYNAMIC_DISPATCH(findAccumulate)(combination, type);
}
FoldLoop findFoldLoop(Combination combination, DType type) {
  return HWY_DYNAMIC_DISPATCH(findFold)(combination, type);
}
double sumOfSquares(DType type, const void *values, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(squares)(type, values, count);
}
} // namespace weft::cpu
#endif // HWY_ONCE
