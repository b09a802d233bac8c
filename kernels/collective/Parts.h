//===- Parts.h - The parts of a dimension that is split over axes ---------===//
//
// Nested ceiling division, the same as partOf() of runtime/executable: each axis, major to minor, cuts what
// the axes before it left into equal parts, rounded up; at every level the last parts may be short or empty.
// For one axis, and wherever sizes divide, part i simply starts at i times the part's size. In zigzag a
// dimension is cut into twice as many equal chunks as there are parts, and part i is chunks i and 2n - 1 - i,
// one behind the other: so parts of parts are again a zigzag, and all axes may be cut or joined at once.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_PARTS_H
#define WEFT_KERNELS_COLLECTIVE_PARTS_H

#include <cstdint>
#include <span>
#include <vector>

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

/// `rows` elements from `whole` of a dimension, which are those from `part` of a part of it.
struct PartStretch {
  int64_t whole = 0;
  int64_t part = 0;
  int64_t rows = 0;
  bool operator==(const PartStretch &) const = default;
};

/// The valid elements of a part, in the order of its memory.
std::vector<PartStretch> stretchesOf(const DimensionPart &part);
/// Those of part `index` of `parts` in zigzag; `size` is a multiple of twice as many.
std::vector<PartStretch> zigzagStretches(int64_t size, int64_t parts, int64_t index);

} // namespace weft

#endif // WEFT_KERNELS_COLLECTIVE_PARTS_H
