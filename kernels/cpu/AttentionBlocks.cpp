//===- AttentionBlocks.cpp - Conversion of blocks -------------------------===//
//
// bf16 and f16 to float32 and back (nearest even), row by row of a block, on the instruction set in use.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/AttentionBlocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/AttentionBlocks.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/cpu/Float16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::cpu {
namespace HWY_NAMESPACE {

void widenRow(DType type, const uint16_t *from, int64_t count, float *to) {
  if (type == DType::BF16)
    loadBf16(to, from, count);
  else
    loadF16(to, from, count);
}

void narrowRow(DType type, const float *from, int64_t count, uint16_t *to) {
  if (type == DType::BF16)
    storeBf16(to, from, count);
  else
    storeF16(to, from, count);
}

} // namespace HWY_NAMESPACE
} // namespace weft::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::cpu {

HWY_EXPORT(widenRow);
HWY_EXPORT(narrowRow);

template <> Block<float> loadBlock(DType type, const void *tensor, const BlockPlace &place, float *buffer) {
  if (type == DType::F32)
    return {static_cast<const float *>(tensor) + place.offset, place.stride};
  const uint16_t *from = static_cast<const uint16_t *>(tensor) + place.offset;
  for (int64_t r = 0; r < place.rows; ++r)
    HWY_DYNAMIC_DISPATCH(widenRow)(type, from + r * place.stride, place.columns, buffer + r * place.columns);
  return {buffer, place.columns};
}

template <>
Block<BFloat16> loadBlock(DType type, const void *tensor, const BlockPlace &place, BFloat16 *buffer) {
  return {static_cast<const BFloat16 *>(tensor) + place.offset, place.stride};
}

template <> Block<double> loadBlock(DType type, const void *tensor, const BlockPlace &place, double *buffer) {
  return {static_cast<const double *>(tensor) + place.offset, place.stride};
}

template <>
void storeBlock(const float *block, int64_t stride, DType type, void *tensor, const BlockPlace &place) {
  if (type == DType::F32) {
    float *to = static_cast<float *>(tensor) + place.offset;
    for (int64_t r = 0; r < place.rows; ++r)
      std::copy_n(block + r * stride, place.columns, to + r * place.stride);
    return;
  }
  uint16_t *to = static_cast<uint16_t *>(tensor) + place.offset;
  for (int64_t r = 0; r < place.rows; ++r)
    HWY_DYNAMIC_DISPATCH(narrowRow)(type, block + r * stride, place.columns, to + r * place.stride);
}

template <>
void storeBlock(const double *block, int64_t stride, DType type, void *tensor, const BlockPlace &place) {
  for (int64_t r = 0; r < place.rows; ++r)
    std::copy_n(block + r * stride, place.columns,
                static_cast<double *>(tensor) + place.offset + r * place.stride);
}

} // namespace weft::cpu
#endif // HWY_ONCE
