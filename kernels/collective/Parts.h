//===- Parts.h - The parts of a dimension that is split over axes ---------===//
//
// Nested ceiling division, the same as partOf() of runtime/executable: each axis, major to minor, cuts what
// the axes before it left into equal parts, rounded up; at every level the last parts may be short or empty.
// For one axis, and wherever sizes divide, part i simply starts at i times the part's size.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_PARTS_H
#define WEFT_KERNELS_COLLECTIVE_PARTS_H

#include <cstdint>
#include <span>

namespace weft {

/// `valid` elements from `start` of the dimension, at the beginning of `size` elements of memory.
struct DimensionPart {
  int64_t start = 0;
  int64_t valid = 0;
  int64_t size = 0;
  bool operator==(const DimensionPart &) const = default;
};

/// Part `index` (row-major over the axes) of a dimension of `size` elements split over axes of these sizes.
DimensionPart dimensionPart(int64_t size, std::span<const int64_t> axisSizes, int64_t index);

} // namespace weft

#endif // WEFT_KERNELS_COLLECTIVE_PARTS_H
