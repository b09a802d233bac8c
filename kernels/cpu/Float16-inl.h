//===- Float16-inl.h - bf16 and f16 in memory, float32 in registers -------===//
//
// Conversions of contiguous runs, and rounding to nearest even of values that stay in float32. A NaN stays a
// NaN. Included once per instruction set; the guard is Highway's.
//
//===----------------------------------------------------------------------===//
#if defined(WEFT_KERNELS_CPU_FLOAT16_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_CPU_FLOAT16_INL_H
#undef WEFT_KERNELS_CPU_FLOAT16_INL_H
#else
#define WEFT_KERNELS_CPU_FLOAT16_INL_H
#endif

#include "hwy/highway.h"

#include <bit>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace weft::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The float32 nearest to x among the bf16 values.
HWY_INLINE float roundToBf16(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u;
  return std::bit_cast<float>(x != x ? (bits | 0x00400000u) & 0xFFFF0000u : rounded);
}

HWY_INLINE float bf16ToFloat(uint16_t stored) { return std::bit_cast<float>(uint32_t{stored} << 16); }
HWY_INLINE uint16_t floatToBf16(float x) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(roundToBf16(x)) >> 16);
}

inline void loadBf16(float *HWY_RESTRICT result, const uint16_t *HWY_RESTRICT source, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    result[i] = bf16ToFloat(source[i]);
}
inline void storeBf16(uint16_t *HWY_RESTRICT result, const float *HWY_RESTRICT source, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    result[i] = floatToBf16(source[i]);
}
inline void roundAllToBf16(float *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    values[i] = roundToBf16(values[i]);
}

/// Eight at a time; what is left goes through a padded copy.
inline void loadF16(float *HWY_RESTRICT result, const uint16_t *HWY_RESTRICT source, int64_t count) {
  const hn::CappedTag<float, 8> wide;
  const hn::Rebind<hwy::float16_t, decltype(wide)> narrow;
  auto *stored = reinterpret_cast<const hwy::float16_t *>(source);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(wide));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::PromoteTo(wide, hn::LoadU(narrow, stored + i)), wide, result + i);
  if (i < count) {
    HWY_ALIGN hwy::float16_t few[8] = {};
    HWY_ALIGN float out[8];
    std::memcpy(few, stored + i, static_cast<size_t>(count - i) * 2);
    hn::Store(hn::PromoteTo(wide, hn::Load(narrow, few)), wide, out);
    std::memcpy(result + i, out, static_cast<size_t>(count - i) * 4);
  }
}
inline void storeF16(uint16_t *HWY_RESTRICT result, const float *HWY_RESTRICT source, int64_t count) {
  const hn::CappedTag<float, 8> wide;
  const hn::Rebind<hwy::float16_t, decltype(wide)> narrow;
  auto *stored = reinterpret_cast<hwy::float16_t *>(result);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(wide));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::DemoteTo(narrow, hn::LoadU(wide, source + i)), narrow, stored + i);
  if (i < count) {
    HWY_ALIGN float few[8] = {};
    HWY_ALIGN hwy::float16_t out[8];
    std::memcpy(few, source + i, static_cast<size_t>(count - i) * 4);
    hn::Store(hn::DemoteTo(narrow, hn::Load(wide, few)), narrow, out);
    std::memcpy(stored + i, out, static_cast<size_t>(count - i) * 2);
  }
}
inline void roundAllToF16(float *values, int64_t count) {
  HWY_ALIGN uint16_t narrow[64];
  for (int64_t i = 0; i < count; i += 64) {
    int64_t part = count - i < 64 ? count - i : 64;
    storeF16(narrow, values + i, part);
    loadF16(values + i, narrow, part);
  }
}

} // namespace weft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif // per-target guard
