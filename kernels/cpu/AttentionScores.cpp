//===- AttentionScores.cpp - Which blocks of scores are needed ------------===//
//
// Skipping a block changes no bit: every weight in it would be exactly 0. With positions a block is judged by
// the least and the most of its queries and keys; where every query sees every key, none is looked at again.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/AttentionScores.h"

namespace weft::cpu {
namespace {

/// The least and the most of a span's numbers.
struct Extent {
  int64_t least, most;
  Extent(const int32_t *numbers, Span span) {
    auto [first, last] = std::minmax_element(numbers + span.first, numbers + span.end());
    least = *first, most = *last;
  }
};

RowNumbers numbersAt(const AttentionShape &shape, const KernelArguments &arguments, size_t operand,
                     int64_t batch) {
  return {static_cast<const int32_t *>(arguments.operands[operand]) + batch * shape.queries,
          static_cast<const int32_t *>(arguments.operands[operand + 1]) + batch * shape.keys};
}

int32_t toPosition(int64_t value) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

} // namespace

BatchRow::BatchRow(const AttentionShape &shape, const KernelArguments &arguments, size_t operand,
                   int64_t batch) {
  if (shape.hasSegments)
    segments = numbersAt(shape, arguments, operand, batch);
  if (shape.hasPositions)
    positions = numbersAt(shape, arguments, operand + (shape.hasSegments ? 2 : 0), batch);
}

bool blockIsVisible(const AttentionShape &shape, const BatchRow &row, Span queries, Span keys) {
  if (row.positions.queries) {
    const Extent query(row.positions.queries, queries), key(row.positions.keys, keys);
    if (key.most < shape.visiblePositions(query.least).first ||
        key.least >= shape.visiblePositions(query.most).last)
      return false;
  } else {
    const KeyRange range = shape.visibleKeys(queries.first, queries.end());
    if (keys.end() <= range.first || keys.first >= range.last)
      return false;
  }
  if (!row.segments.queries)
    return true;
  const Extent query(row.segments.queries, queries), key(row.segments.keys, keys);
  return query.most >= key.least && key.most >= query.least;
}

VisibleColumns::VisibleColumns(const AttentionShape &shape, const BatchRow &row, Span queries, Span keys) {
  if (row.positions.queries) {
    findByPosition(shape, row.positions, queries, keys);
    return;
  }
  for (int64_t r = 0; r < queries.count; ++r) {
    KeyRange range = shape.visibleKeys(queries.first + r);
    first[r] = static_cast<int32_t>(std::clamp(range.first - keys.first, int64_t(0), keys.count));
    last[r] = static_cast<int32_t>(std::clamp(range.last - keys.first, int64_t(0), keys.count));
  }
}

void VisibleColumns::findByPosition(const AttentionShape &shape, const RowNumbers &numbers, Span queries,
                                    Span keys) {
  const Extent query(numbers.queries, queries), key(numbers.keys, keys);
  if (key.least >= shape.visiblePositions(query.most).first &&
      key.most < shape.visiblePositions(query.least).last) {
    std::fill_n(first, queries.count, 0);
    std::fill_n(last, queries.count, static_cast<int32_t>(keys.count));
    return;
  }
  positions = numbers.keys + keys.first;
  for (int64_t r = 0; r < queries.count; ++r) {
    KeyRange range = shape.visiblePositions(numbers.queries[queries.first + r]);
    first[r] = toPosition(range.first);
    last[r] = toPosition(range.last - 1);
  }
}

} // namespace weft::cpu
