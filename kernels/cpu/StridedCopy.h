//===- StridedCopy.h - Moving elements between strided views --------------===//
//
// dst[i0, i1, ...] = src[i0, i1, ...] for any strides, with conversion where the types differ: what
// transposes, broadcasts, slices, pads and the packing of products are made of. Planned once, then run tile
// by tile; the elements of a run of memory move together, and exchanges of dimensions go through blocks that
// stay in the cache.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_STRIDEDCOPY_H
#define WEFT_KERNELS_CPU_STRIDEDCOPY_H

#include "kernels/common/Types.h"
#include "kernels/cpu/ElementwiseLoops.h"

#include <vector>

namespace weft {
class ThreadPool;
}

namespace weft::cpu {

class StridedCopy {
public:
  /// A copy of nothing.
  StridedCopy() = default;

  /// Strides in elements, one per dimension of the shape; a source stride may be 0.
  StridedCopy(const std::vector<int64_t> &shape, DType sourceType, const std::vector<int64_t> &sourceStrides,
              DType resultType, const std::vector<int64_t> &resultStrides);

  /// Tiles of similar size, a function of the shape.
  int64_t tileCount() const { return tiles; }
  /// Pointers to element 0 of each view; tiles may run in any order and at once.
  void runTile(int64_t tile, const void *source, void *result) const;
  void run(const void *source, void *result, ThreadPool &threads) const;

private:
  struct Dimension {
    int64_t size, source, result;
  };
  void runUnit(int64_t unit, const char *source, char *result) const;
  void copyRun(const char *source, char *result, int64_t count) const;
  void convertRun(const char *source, char *result, int64_t count) const;
  void exchangeBlock(const char *source, char *result, int64_t rows, int64_t columns) const;

  std::vector<Dimension> outer; ///< outermost first
  Dimension inner = {0, 1, 1};
  Dimension rowDimension = {1, 0, 0}; ///< of an exchange: where the source is contiguous
  bool exchanges = false;
  int64_t rowChunks = 1, innerChunks = 1, units = 0, unitsPerTile = 1, tiles = 0;
  int64_t sourceBytes = 1, resultBytes = 1;
  bool converts = false;
  LoadLoop load = nullptr;
  ElementwiseLoop cast = nullptr;
  StoreLoop store = nullptr;
};

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_STRIDEDCOPY_H
