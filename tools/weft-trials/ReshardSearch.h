//===- ReshardSearch.h - The fewest bytes of a reshard, by trying everything --===//
//
// Written apart from the compiler's search: its own placements, its own sizes, and no rule about which steps
// are worth a try. Every collective over one axis may take an axis anywhere, and reductions may take several
// at once. Only axes on which the value is replicated before and after take no part.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_RESHARDSEARCH_H
#define WEFT_TOOLS_WEFT_TRIALS_RESHARDSEARCH_H

#include <cstdint>
#include <vector>

namespace weft::trials {

/// Where a value is: per dimension the axes that split it, major to minor, and whether in zigzag; and the
/// pending axes, ascending.
struct Whereabouts {
  std::vector<std::vector<int>> splits;
  std::vector<bool> zigzag;
  std::vector<int> sum, max, lse, tree;
  auto operator<=>(const Whereabouts &) const = default;
};

/// The fewest bytes that a rank sends, by the ring algorithms' formulas of ReshardPath.h.
double fewestBytes(const std::vector<int64_t> &axisSizes, const std::vector<int64_t> &shape,
                   int64_t elementBytes, const Whereabouts &from, const Whereabouts &to);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_RESHARDSEARCH_H
