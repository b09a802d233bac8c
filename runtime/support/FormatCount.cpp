#include "runtime/support/FormatCount.h"

namespace weft {

std::string formatCount(int64_t count) {
  std::string digits = std::to_string(count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;)
    digits.insert(at -= 3, ",");
  return digits;
}

} // namespace weft
