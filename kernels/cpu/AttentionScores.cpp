//===- AttentionScores.cpp - Which blocks of scores are needed ------------===//
//
// Skipping a block changes no bit: every weight in it would be exactly 0.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/AttentionScores.h"

namespace weft::cpu {
namespace {

/// True when the values of the two spans cannot have one in common.
bool rangesAreDisjoint(const int32_t *queries, Span querySpan, const int32_t *keys, Span keySpan) {
  auto [leastQuery, mostQuery] = std::minmax_element(queries + querySpan.first, queries + querySpan.end());
  auto [leastKey, mostKey] = std::minmax_element(keys + keySpan.first, keys + keySpan.end());
  return *mostQuery < *leastKey || *mostKey < *leastQuery;
}

} // namespace

bool blockIsVisible(const AttentionShape &shape, const SegmentRows &segments, Span queries, Span keys) {
  KeyRange range = shape.visibleKeys(queries.first, queries.end());
  if (keys.end() <= range.first || keys.first >= range.last)
    return false;
  return !segments.queries || !rangesAreDisjoint(segments.queries, queries, segments.keys, keys);
}

VisibleColumns::VisibleColumns(const AttentionShape &shape, Span queries, Span keys) {
  for (int64_t r = 0; r < queries.count; ++r) {
    KeyRange range = shape.visibleKeys(queries.first + r);
    first[r] = static_cast<int32_t>(std::clamp(range.first - keys.first, int64_t(0), keys.count));
    last[r] = static_cast<int32_t>(std::clamp(range.last - keys.first, int64_t(0), keys.count));
  }
}

} // namespace weft::cpu
