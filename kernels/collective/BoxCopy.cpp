#include "kernels/collective/BoxCopy.h"

#include "kernels/collective/CallChecks.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace weft::collective {

BoxCopy BoxCopy::along(size_t dimension, const TensorType &source, int64_t fromStart,
                       const TensorType &target, int64_t toStart, int64_t rows) {
  BoxCopy copy;
  copy.outer = sizeOfDimensions(source.shape, 0, dimension);
  copy.innerBytes =
      sizeOfDimensions(source.shape, dimension + 1, source.shape.size()) * byteSize(source.dtype);
  copy.rowsB = rows;
  copy.from = {1, 0, source.shape[dimension], fromStart};
  copy.to = {1, 0, target.shape[dimension], toStart};
  return copy;
}

bool BoxCopy::isInPlace(const void *source, const void *target) const {
  return outer * rowsA * middle == 1 && static_cast<const std::byte *>(source) + from.startB * innerBytes ==
                                            static_cast<const std::byte *>(target) + to.startB * innerBytes;
}

void BoxCopy::run(const void *source, void *target, int64_t begin, int64_t end) const {
  int64_t run = rowsB * innerBytes;
  if (run == 0 || isInPlace(source, target))
    return;
  auto offset = [&](const Side &side, int64_t outerIndex, int64_t row, int64_t between) {
    return (((outerIndex * side.sizeA + side.startA + row) * middle + between) * side.sizeB + side.startB) *
           innerBytes;
  };
  for (int64_t outerIndex = begin; outerIndex < end; ++outerIndex)
    for (int64_t row = 0; row < rowsA; ++row)
      for (int64_t between = 0; between < middle; ++between)
        std::memcpy(static_cast<std::byte *>(target) + offset(to, outerIndex, row, between),
                    static_cast<const std::byte *>(source) + offset(from, outerIndex, row, between),
                    static_cast<size_t>(run));
}

void runCopies(std::span<const BoxCopy> copies, std::span<const void *const> sources, void *target,
               ThreadPool &threads) {
  constexpr int64_t kTileBytes = 64 * 1024;
  int64_t outer = copies.front().outer; // the same for all: they fill one tensor
  int64_t each = std::max<int64_t>(1, kTileBytes / std::max<int64_t>(1, copies.front().bytesPerOuter()));
  int64_t pieces = (outer + each - 1) / each;
  threads.forEachTile(static_cast<int64_t>(copies.size()) * pieces, [&](int64_t tile, int) {
    const BoxCopy &copy = copies[static_cast<size_t>(tile / pieces)];
    int64_t begin = tile % pieces * each;
    copy.run(sources[copy.source], target, begin, std::min(outer, begin + each));
  });
}

void zeroTail(const TensorType &type, size_t dimension, int64_t valid, void *data) {
  int64_t rows = type.shape[dimension];
  if (valid == rows)
    return;
  int64_t outer = sizeOfDimensions(type.shape, 0, dimension);
  int64_t inner = sizeOfDimensions(type.shape, dimension + 1, type.shape.size()) * byteSize(type.dtype);
  for (int64_t i = 0; i < outer; ++i)
    std::memset(static_cast<std::byte *>(data) + (i * rows + valid) * inner, 0,
                static_cast<size_t>((rows - valid) * inner));
}

} // namespace weft::collective
