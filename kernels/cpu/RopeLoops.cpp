//===- RopeLoops.cpp - Rotating the heads of one position -----------------===//
//
// Each piece of pairs is brought into local arrays, rotated, and written: so x and y may be one tensor.
// Halves of float32 and bfloat16, what models rotate, go through registers alone: vectors as wide as the
// pairs allow.
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

/// Whole vectors of stored float32 or bfloat16, as float32.
template <class D> HWY_INLINE hn::Vec<D> loadWide(D d, const float *from) { return hn::LoadU(d, from); }
template <class D> HWY_INLINE hn::Vec<D> loadWide(D d, const uint16_t *from) {
  const hn::Rebind<uint32_t, D> words;
  const auto stored = hn::LoadU(hn::Rebind<uint16_t, D>(), from);
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, stored)));
}
template <class D> HWY_INLINE void storeNarrow(D d, hn::Vec<D> value, float *to) { hn::StoreU(value, d, to); }
/// roundToBf16 (Float16-inl.h) of each element.
template <class D> HWY_INLINE void storeNarrow(D d, hn::Vec<D> value, uint16_t *to) {
  const hn::Rebind<uint32_t, D> words;
  const hn::Rebind<int32_t, D> integers;
  const auto bits = hn::BitCast(words, value);
  const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1u));
  const auto nearest = hn::Add(hn::Add(bits, hn::Set(words, 0x7FFFu)), last);
  const auto quiet = hn::Or(bits, hn::Set(words, 0x00400000u));
  const auto chosen = hn::IfThenElse(hn::RebindMask(words, hn::IsNaN(value)), quiet, nearest);
  const auto high = hn::BitCast(integers, hn::ShiftRight<16>(chosen)); // below 2^16: nothing saturates
  hn::StoreU(hn::DemoteTo(hn::Rebind<uint16_t, D>(), high), hn::Rebind<uint16_t, D>(), to);
}

/// Pairs from `begin` on as long as a whole vector of at most kMost is left; where it ends.
template <size_t kMost, typename Stored>
HWY_INLINE int64_t rotateVectors(const RotatedHeads &h, const Stored *x, Stored *y, int64_t begin) {
  const hn::CappedTag<float, kMost> d;
  const int64_t half = h.rotated / 2, lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto sign = hn::Set(d, h.isInverse ? -1.0f : 1.0f);
  for (; begin + lanes <= half; begin += lanes) {
    const auto c = hn::LoadU(d, h.cosines + begin), s = hn::Mul(sign, hn::LoadU(d, h.sines + begin));
    const auto first = loadWide(d, x + begin), second = loadWide(d, x + half + begin);
    storeNarrow(d, hn::Sub(hn::Mul(first, c), hn::Mul(second, s)), y + begin);
    storeNarrow(d, hn::Add(hn::Mul(second, c), hn::Mul(first, s)), y + half + begin);
  }
  return begin;
}

/// Halves of a head up to a number of pairs that 4 divides; where the rest begins.
template <typename Stored> HWY_INLINE int64_t rotateHead(const RotatedHeads &h, int64_t head) {
  const Stored *x = static_cast<const Stored *>(h.x) + head * h.headSize;
  Stored *y = static_cast<Stored *>(h.y) + head * h.headSize;
  return rotateVectors<4>(h, x, y, rotateVectors<8>(h, x, y, rotateVectors<16>(h, x, y, 0)));
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
    int64_t first = 0;
    if (!h.isInterleaved && h.type == DType::F32)
      first = rotateHead<float>(h, head);
    else if (!h.isInterleaved && h.type == DType::BF16)
      first = rotateHead<uint16_t>(h, head);
    for (int64_t begin = first; begin < half; begin += kPairs) {
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
