#include "kernels/collective/Parts.h"

#include <algorithm>

namespace weft {

DimensionPart dimensionPart(int64_t size, std::span<const int64_t> axisSizes, int64_t index) {
  int64_t minor = 1; // ranks along the axes behind the one at hand
  for (int64_t parts : axisSizes)
    minor *= parts;
  DimensionPart part{0, size, size};
  for (int64_t parts : axisSizes) {
    minor /= parts;
    int64_t each = (part.size + parts - 1) / parts;
    int64_t start = std::min(index / minor % parts * each, part.size);
    part = {part.start + start, std::clamp(part.valid - start, int64_t{0}, each), each};
  }
  return part;
}

std::vector<PartStretch> stretchesOf(const DimensionPart &part) { return {{part.start, 0, part.valid}}; }

std::vector<PartStretch> zigzagStretches(int64_t size, int64_t parts, int64_t index) {
  int64_t chunk = size / (2 * parts);
  return {{index * chunk, 0, chunk}, {(2 * parts - 1 - index) * chunk, chunk, chunk}};
}

} // namespace weft
