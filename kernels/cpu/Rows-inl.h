//===- Rows-inl.h - Pieces of stored rows as float32 or float64 -----------===//
//
// Kernels that compute in T (float, or double for float64 tensors) read and write rows of any floating-point
// type piece by piece. A piece that is stored as T is used where it lies. Included once per instruction set.
//
//===----------------------------------------------------------------------===//
#if defined(WEFT_KERNELS_CPU_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_CPU_ROWS_INL_H
#undef WEFT_KERNELS_CPU_ROWS_INL_H
#else
#define WEFT_KERNELS_CPU_ROWS_INL_H
#endif

#include "hwy/highway.h"
#include "kernels/common/Types.h"

#include "kernels/cpu/Float16-inl.h"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace weft::cpu::HWY_NAMESPACE {

inline constexpr int64_t kPiece = 512; ///< elements at a time; a multiple of every vector

template <typename T> constexpr DType kTypeOf = std::is_same_v<T, double> ? DType::F64 : DType::F32;

/// `count` (<= kPiece) elements from `offset` on: the memory itself, or converted into `buffer`.
template <typename T>
HWY_INLINE const T *readPiece(DType type, const void *base, int64_t offset, int64_t count, T *buffer) {
  if (type == kTypeOf<T>)
    return static_cast<const T *>(base) + offset;
  if constexpr (std::is_same_v<T, float>) {
    if (type == DType::BF16) {
      loadBf16(buffer, static_cast<const uint16_t *>(base) + offset, count);
    } else if (type == DType::F16) {
      loadF16(buffer, static_cast<const uint16_t *>(base) + offset, count);
    } else {
      auto *wide = static_cast<const double *>(base) + offset;
      for (int64_t i = 0; i < count; ++i)
        buffer[i] = static_cast<float>(wide[i]);
    }
  } else {
    alignas(64) float single[kPiece];
    const float *values = readPiece<float>(type, base, offset, count, single);
    for (int64_t i = 0; i < count; ++i)
      buffer[i] = static_cast<double>(values[i]);
  }
  return buffer;
}

/// Rounds and stores `count` (<= kPiece) elements.
template <typename T>
HWY_INLINE void writePiece(DType type, void *base, int64_t offset, const T *HWY_RESTRICT values,
                           int64_t count) {
  if (type == kTypeOf<T>) {
    std::memcpy(static_cast<T *>(base) + offset, values, static_cast<size_t>(count) * sizeof(T));
  } else if constexpr (std::is_same_v<T, float>) {
    if (type == DType::BF16) {
      storeBf16(static_cast<uint16_t *>(base) + offset, values, count);
    } else if (type == DType::F16) {
      storeF16(static_cast<uint16_t *>(base) + offset, values, count);
    } else {
      auto *wide = static_cast<double *>(base) + offset;
      for (int64_t i = 0; i < count; ++i)
        wide[i] = static_cast<double>(values[i]);
    }
  } else {
    alignas(64) float single[kPiece];
    for (int64_t i = 0; i < count; ++i)
      single[i] = static_cast<float>(values[i]);
    writePiece<float>(type, base, offset, single, count);
  }
}

} // namespace weft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif // per-target guard
