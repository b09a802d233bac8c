//===- AttentionBlocks.h - Blocks of operands in the compute type ---------===//
//
// Attention and the linear cross-entropy work block by block. A block whose stored type is the compute type
// is used where it lies; one of a narrower type is converted into the scratch of the lane that works on it.
// Lanes are the unit of scratch: each takes a fixed, consecutive share of the tiles in order, as long as the
// others', and their number is a function of the number of tiles alone, so neither scratch nor bits depend on
// the threads.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_ATTENTIONBLOCKS_H
#define WEFT_KERNELS_CPU_ATTENTIONBLOCKS_H

#include "kernels/common/Types.h"
#include "kernels/cpu/MatrixProduct.h"
#include "kernels/cpu/ProductF64.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace weft::cpu {

template <typename T>
constexpr DType kNativeType = std::is_same_v<T, double>     ? DType::F64
                              : std::is_same_v<T, BFloat16> ? DType::BF16
                                                            : DType::F32;

/// A share of the tiles with scratch of its own.
class Lanes {
public:
  /// Tiles that take equally long.
  explicit Lanes(int64_t tiles) : Lanes(tiles, 1, [](int64_t) { return 1; }) {}
  /// Tiles in `repeats` equal series of `period`; `work(tile)`, not negative, is how long a tile of the first
  /// series takes, in any unit. More than kMostWeighed of them count as equally long.
  template <typename Work> Lanes(int64_t repeats, int64_t period, const Work &work) {
    const int64_t tiles = repeats * period;
    lanes = std::min(tiles, kMost);
    firstTile[lanes] = tiles;
    if (period > kMostWeighed) {
      for (int64_t lane = 0; lane < lanes; ++lane)
        firstTile[lane] = tiles / lanes * lane;
      return;
    }
    double series = 0;
    for (int64_t tile = 0; tile < period; ++tile)
      series += static_cast<double>(work(tile));
    for (int64_t lane = 0; lane < lanes; ++lane)
      firstTile[lane] = firstOf(lane, repeats, period, series, work);
  }
  int64_t count() const { return lanes; }
  /// Lane `lane` works on tiles [first(lane), first(lane + 1)), in order.
  int64_t first(int64_t lane) const { return firstTile[lane]; }

private:
  static constexpr int64_t kMost = 32, kMostWeighed = 1 << 20;

  /// A tile belongs to the lane in whose share its middle lies.
  template <typename Work>
  int64_t firstOf(int64_t lane, int64_t repeats, int64_t period, double series, const Work &work) const {
    const double share = series * static_cast<double>(repeats) / static_cast<double>(lanes);
    const double begin = share * static_cast<double>(lane);
    int64_t repeat = series > 0 ? std::min(static_cast<int64_t>(begin / series), repeats) : 0;
    double before = series * static_cast<double>(repeat);
    for (int64_t tile = 0; repeat < repeats && tile < period; ++tile) {
      const double own = static_cast<double>(work(tile));
      if (before + own / 2 >= begin)
        return repeat * period + tile;
      before += own;
    }
    return std::min(repeat + 1, repeats) * period;
  }

  int64_t lanes;
  int64_t firstTile[kMost + 1];
};

/// Hands out parts of a workspace, each on a 64-byte boundary. With a null base it only adds up their bytes.
class Scratch {
public:
  explicit Scratch(void *base) : base(static_cast<char *>(base)) {}
  template <typename T> T *take(int64_t elements) {
    char *part = base ? base + used : nullptr;
    used += (elements * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    return reinterpret_cast<T *>(part);
  }
  int64_t bytes() const { return used; }

private:
  char *base;
  int64_t used = 0;
};

/// Rows of a matrix in the compute type, `stride` elements apart.
template <typename T> struct Block {
  const T *data;
  int64_t stride;
};

/// Where a block lies in a tensor, in elements.
struct BlockPlace {
  int64_t offset;
  int64_t rows;
  int64_t columns;
  int64_t stride;
};

/// The block of `tensor` at `place`: itself when `type` is T's, else converted into `buffer` [rows, columns].
/// A bfloat16 block is always itself.
template <typename T> Block<T> loadBlock(DType type, const void *tensor, const BlockPlace &place, T *buffer);

/// The same copied into `to` [rows, columns] in any case: consecutive rows are quick to read again and again.
template <typename T> void copyBlock(DType type, const void *tensor, const BlockPlace &place, T *to);

/// A block of float32 rounded to bfloat16 into `to` [rows, columns], which holds bfloat16 or float32.
void roundBlock(const float *tensor, const BlockPlace &place, BFloat16 *to);
void roundBlock(const float *tensor, const BlockPlace &place, float *to);

/// Rounds `block` (rows `stride` apart) to `type` and stores it.
template <typename T>
void storeBlock(const T *block, int64_t stride, DType type, void *tensor, const BlockPlace &place);

/// Elements of `buffer` that loadBlock needs: none for the compute type itself.
template <typename T> int64_t bufferElements(DType type, int64_t rows, int64_t columns) {
  return type == kNativeType<T> ? 0 : rows * columns;
}

/// C = A B + beta C in the compute type, or of bfloat16 with float32 sums; beta is 0 or 1.
inline void multiplyBlocks(int64_t m, int64_t n, int64_t k, const float *a, MatrixStrides aStrides,
                           const float *b, MatrixStrides bStrides, float *c, int64_t cRow, float beta) {
  multiply(m, n, k, a, aStrides, b, bStrides, c, cRow, beta);
}
inline void multiplyBlocks(int64_t m, int64_t n, int64_t k, const BFloat16 *a, MatrixStrides aStrides,
                           const BFloat16 *b, MatrixStrides bStrides, float *c, int64_t cRow, float beta) {
  multiply(m, n, k, a, aStrides, b, bStrides, c, cRow, beta);
}
inline void multiplyBlocks(int64_t m, int64_t n, int64_t k, const double *a, MatrixStrides aStrides,
                           const double *b, MatrixStrides bStrides, double *c, int64_t cRow, double beta) {
  multiplyF64(m, n, k, a, aStrides, b, bStrides, c, cRow, beta);
}

/// Statistics (lse, sinks, losses) are f32, or f64 in a call that computes in double.
template <typename T> T loadStatistic(DType type, const void *values, int64_t index) {
  if (type == DType::F64)
    return static_cast<T>(static_cast<const double *>(values)[index]);
  return static_cast<const float *>(values)[index];
}
template <typename T> void storeStatistic(DType type, void *values, int64_t index, T value) {
  if (type == DType::F64)
    static_cast<double *>(values)[index] = value;
  else
    static_cast<float *>(values)[index] = static_cast<float>(value);
}

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_ATTENTIONBLOCKS_H
