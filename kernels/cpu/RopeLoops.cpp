//===- RopeLoops.cpp - Rotating the heads of one position -----------------===//
//
// Each piece of pairs is brought into local arrays, rotated, and written: so x and y may be one tensor.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/RopeLoops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/RopeLoops.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "kernels/cpu/Rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kPairs = kPiece / 2; ///< at a time

template <typename T>
HWY_INLINE void rotatePairs(const T *HWY_RESTRICT first, const T *HWY_RESTRICT second, const float *cosines,
                            const float *sines, T sign, int64_t count, T *HWY_RESTRICT newFirst,
                            T *HWY_RESTRICT newSecond) {
  for (int64_t i = 0; i < count; ++i) {
    const T c = static_cast<T>(cosines[i]), s = sign * static_cast<T>(sines[i]);
    newFirst[i] = first[i] * c - second[i] * s;
    newSecond[i] = second[i] * c + first[i] * s;
  }
}

template <typename T>
HWY_INLINE void rotateHalves(const RotatedHeads &h, int64_t head, int64_t begin, int64_t count) {
  alignas(64) T a[kPairs], b[kPairs], newA[kPairs], newB[kPairs];
  int64_t at = head * h.headSize + begin, half = h.rotated / 2;
  const T *first = readPiece<T>(h.type, h.x, at, count, a);
  const T *second = readPiece<T>(h.type, h.x, at + half, count, b);
  rotatePairs<T>(first, second, h.cosines + begin, h.sines + begin, h.isInverse ? T{-1} : T{1}, count, newA,
                 newB);
  writePiece<T>(h.type, h.y, at, newA, count);
  writePiece<T>(h.type, h.y, at + half, newB, count);
}

template <typename T>
HWY_INLINE void rotateNeighbors(const RotatedHeads &h, int64_t head, int64_t begin, int64_t count) {
  alignas(64) T a[kPairs], b[kPairs], newA[kPairs], newB[kPairs], buffer[kPiece];
  int64_t at = head * h.headSize + 2 * begin;
  const T *pairs = readPiece<T>(h.type, h.x, at, 2 * count, buffer);
  for (int64_t i = 0; i < count; ++i) {
    a[i] = pairs[2 * i];
    b[i] = pairs[2 * i + 1];
  }
  rotatePairs<T>(a, b, h.cosines + begin, h.sines + begin, h.isInverse ? T{-1} : T{1}, count, newA, newB);
  for (int64_t i = 0; i < count; ++i) {
    buffer[2 * i] = newA[i];
    buffer[2 * i + 1] = newB[i];
  }
  writePiece<T>(h.type, h.y, at, buffer, 2 * count);
}

template <typename T> void rotateAll(const RotatedHeads &h) {
  const int64_t half = h.rotated / 2, bytes = byteSize(h.type);
  for (int64_t head = 0; head < h.heads; ++head) {
    for (int64_t begin = 0; begin < half; begin += kPairs) {
      int64_t count = HWY_MIN(kPairs, half - begin);
      if (h.isInterleaved)
        rotateNeighbors<T>(h, head, begin, count);
      else
        rotateHalves<T>(h, head, begin, count);
    }
    if (h.x != h.y && h.rotated < h.headSize) {
      int64_t rest = (head * h.headSize + h.rotated) * bytes;
      std::memcpy(static_cast<char *>(h.y) + rest, static_cast<const char *>(h.x) + rest,
                  static_cast<size_t>((h.headSize - h.rotated) * bytes));
    }
  }
}

void rotate(const RotatedHeads &heads) {
  if (heads.type == DType::F64)
    rotateAll<double>(heads);
  else
    rotateAll<float>(heads);
}

} // namespace
} // namespace weft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::cpu {
HWY_EXPORT(rotate);
void rotateHeads(const RotatedHeads &heads) { HWY_DYNAMIC_DISPATCH(rotate)(heads); }
} // namespace weft::cpu
#endif // HWY_ONCE
