//===- AttentionBlocks.cpp - Conversion of blocks -------------------------===//
//
// bf16 and f16 to float32 and back (nearest even), or copies, row by row of a block, on the instruction set
// in use.
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

void roundRow(float *row, int64_t count) { roundAllToBf16(row, count); }

/// Rows of one head are short: a loop of vectors costs less than a call of memcpy for each.
template <typename T>
void copyRowsOf(const T *from, int64_t fromStride, T *to, int64_t toStride, int64_t rows, int64_t columns) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  for (int64_t r = 0; r < rows; ++r, from += fromStride, to += toStride) {
    int64_t c = 0;
    for (; c + lanes <= columns; c += lanes)
      hn::StoreU(hn::LoadU(d, from + c), d, to + c);
    for (; c < columns; ++c)
      to[c] = from[c];
  }
}
void copyRowsFloat(const float *from, int64_t fromStride, float *to, int64_t toStride, int64_t rows,
                   int64_t columns) {
  copyRowsOf(from, fromStride, to, toStride, rows, columns);
}
void copyRowsDouble(const double *from, int64_t fromStride, double *to, int64_t toStride, int64_t rows,
                    int64_t columns) {
  copyRowsOf(from, fromStride, to, toStride, rows, columns);
}

} // namespace HWY_NAMESPACE
} // namespace weft::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::cpu {

HWY_EXPORT(widenRow);
HWY_EXPORT(narrowRow);
HWY_EXPORT(roundRow);
HWY_EXPORT(copyRowsFloat);
HWY_EXPORT(copyRowsDouble);

static void copyRows(const float *from, int64_t fromStride, float *to, int64_t toStride, int64_t rows,
                     int64_t columns) {
  HWY_DYNAMIC_DISPATCH(copyRowsFloat)(from, fromStride, to, toStride, rows, columns);
}
static void copyRows(const double *from, int64_t fromStride, double *to, int64_t toStride, int64_t rows,
                     int64_t columns) {
  HWY_DYNAMIC_DISPATCH(copyRowsDouble)(from, fromStride, to, toStride, rows, columns);
}

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

template <typename T> void copyBlock(DType type, const void *tensor, const BlockPlace &place, T *to) {
  const Block<T> block = loadBlock(type, tensor, place, to);
  if (block.data != to)
    copyRows(block.data, block.stride, to, place.columns, place.rows, place.columns);
}
template void copyBlock(DType, const void *, const BlockPlace &, float *);
template void copyBlock(DType, const void *, const BlockPlace &, double *);

void roundBlock(const float *tensor, const BlockPlace &place, BFloat16 *to) {
  for (int64_t r = 0; r < place.rows; ++r)
    HWY_DYNAMIC_DISPATCH(narrowRow)(DType::BF16, tensor + place.offset + r * place.stride, place.columns,
                                    reinterpret_cast<uint16_t *>(to) + r * place.columns);
}

void roundBlock(const float *tensor, const BlockPlace &place, float *to) {
  copyBlock(DType::F32, tensor, place, to);
  HWY_DYNAMIC_DISPATCH(roundRow)(to, place.rows * place.columns);
}

template <>
void storeBlock(const float *block, int64_t stride, DType type, void *tensor, const BlockPlace &place) {
  if (type == DType::F32) {
    copyRows(block, stride, static_cast<float *>(tensor) + place.offset, place.stride, place.rows,
             place.columns);
    return;
  }
  uint16_t *to = static_cast<uint16_t *>(tensor) + place.offset;
  for (int64_t r = 0; r < place.rows; ++r)
    HWY_DYNAMIC_DISPATCH(narrowRow)(type, block + r * stride, place.columns, to + r * place.stride);
}

template <>
void storeBlock(const double *block, int64_t stride, DType type, void *tensor, const BlockPlace &place) {
  copyRows(block, stride, static_cast<double *>(tensor) + place.offset, place.stride, place.rows,
           place.columns);
}

} // namespace weft::cpu
#endif // HWY_ONCE
