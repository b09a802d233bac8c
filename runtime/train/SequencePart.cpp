#include "runtime/train/SequencePart.h"

#include <algorithm>

namespace weft {

void SequencePart::copy(std::span<const int32_t> samples, std::span<int32_t> part) const {
  auto to = part.begin();
  for (size_t row = 0; row < samples.size(); row += static_cast<size_t>(length))
    for (const Extent &stretch : stretches) {
      const auto from = samples.begin() + static_cast<std::ptrdiff_t>(row) + stretch.start;
      to = std::copy(from, from + stretch.valid, to);
      to = std::fill_n(to, stretch.size - stretch.valid, 0);
    }
}

} // namespace weft
