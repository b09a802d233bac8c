#include "runtime/comm/PeerTopology.h"

#include <cstdint>
#include <set>

namespace weft {

std::vector<int> linkedRanks(int rank, int ranks) {
  constexpr int64_t base = 8;
  std::set<int> linked;
  for (int64_t distance = 1; distance < ranks; distance *= base) {
    linked.insert(static_cast<int>((rank + distance) % ranks));
    linked.insert(static_cast<int>((rank + ranks - distance) % ranks));
  }
  linked.erase(rank);
  return {linked.begin(), linked.end()};
}

} // namespace weft
