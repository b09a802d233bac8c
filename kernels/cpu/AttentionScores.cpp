//===- AttentionScores.cpp - Which blocks of scores are needed ------------===//
//
// Skipping a block changes no bit: every weight in it would be exactly 0. With positions a block is judged by
// the least and the most of its queries and keys; where every query sees every key, none is looked at again.
// Ascending positions and segments in one piece, which is what packing and context ranks make, become ranges
// of columns; the rest is compared number by number.
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

QueryTiles::QueryTiles(const AttentionShape &shape, QueryTileLimits limits) {
  constexpr int64_t kEnoughTiles = 8;
  int64_t blocks = std::clamp<int64_t>(limits.elements / std::max(shape.depth, shape.width) / limits.block, 1,
                                       limits.mostBlocks);
  auto tiles = [&] { return (shape.queries + blocks * limits.block - 1) / (blocks * limits.block); };
  while (blocks > 1 && shape.batch * shape.heads * tiles() < kEnoughTiles)
    --blocks;
  rows = blocks * limits.block;
  count = tiles();
}

int64_t QueryTiles::work(const AttentionShape &shape, int64_t index) const {
  const Span queries = span(shape, index);
  int64_t keys = shape.keys;
  if (!shape.hasPositions) {
    const KeyRange first = shape.visibleKeys(queries.first), last = shape.visibleKeys(queries.end() - 1);
    keys =
        (std::max<int64_t>(first.last - first.first, 0) + std::max<int64_t>(last.last - last.first, 0)) / 2;
  }
  return queries.count * (keys + kQueryBlock);
}

VisibleColumns::VisibleColumns(const AttentionShape &shape, const BatchRow &row, Span queries, Span keys) {
  if (row.positions.queries) {
    findByPosition(shape, row.positions, queries, keys);
  } else {
    for (int64_t r = 0; r < queries.count; ++r) {
      KeyRange range = shape.visibleKeys(queries.first + r);
      first[r] = static_cast<int32_t>(std::clamp(range.first - keys.first, int64_t(0), keys.count));
      last[r] = static_cast<int32_t>(std::clamp(range.last - keys.first, int64_t(0), keys.count));
    }
  }
  if (row.segments.queries)
    limitToSegments(row.segments, queries, keys);
  for (int64_t r = 0; r < queries.count; ++r) {
    any |= first[r] < last[r];
    all &= first[r] == 0 && last[r] == keys.count;
  }
  all &= !positions && !keySegments;
}

void VisibleColumns::findByPosition(const AttentionShape &shape, const RowNumbers &numbers, Span queries,
                                    Span keys) {
  const Extent query(numbers.queries, queries), key(numbers.keys, keys);
  std::fill_n(first, queries.count, 0);
  std::fill_n(last, queries.count, static_cast<int32_t>(keys.count));
  if (key.least >= shape.visiblePositions(query.most).first &&
      key.most < shape.visiblePositions(query.least).last)
    return;
  const int32_t *begin = numbers.keys + keys.first, *end = begin + keys.count;
  const bool ascending = std::is_sorted(begin, end);
  if (!ascending)
    positions = begin;
  for (int64_t r = 0; r < queries.count; ++r) {
    KeyRange range = shape.visiblePositions(numbers.queries[queries.first + r]);
    leastPosition[r] = toPosition(range.first);
    mostPosition[r] = toPosition(range.last - 1);
    if (ascending) {
      first[r] = static_cast<int32_t>(std::lower_bound(begin, end, leastPosition[r]) - begin);
      last[r] = static_cast<int32_t>(std::upper_bound(begin, end, mostPosition[r]) - begin);
    }
  }
}

void VisibleColumns::limitToSegments(const RowNumbers &segments, Span queries, Span keys) {
  const int32_t *query = segments.queries + queries.first, *begin = segments.keys + keys.first;
  const int32_t *end = begin + keys.count;
  int32_t from = 0, to = 0;
  for (int64_t r = 0; r < queries.count; ++r) {
    if (r == 0 || query[r] != query[r - 1]) {
      const int32_t *some = std::find(begin, end, query[r]);
      const int32_t *next = std::find_if(some, end, [&](int32_t segment) { return segment != query[r]; });
      from = static_cast<int32_t>(some - begin), to = static_cast<int32_t>(next - begin);
      if (std::find(next, end, query[r]) != end) {
        to = static_cast<int32_t>(keys.count);
        querySegments = query, keySegments = begin;
      }
    }
    first[r] = std::max(first[r], from);
    last[r] = std::min(last[r], to);
  }
}

VisibleRows::VisibleRows(const VisibleColumns &visible, int64_t rows, int64_t columns) : all(visible.all) {
  if (all)
    return;
  std::fill_n(first, columns, 0);
  std::fill_n(last, columns, 0);
  for (int64_t r = rows - 1; r >= 0; --r)
    for (int32_t c = visible.first[r]; c < visible.last[r]; ++c)
      first[c] = static_cast<int32_t>(r);
  for (int64_t r = 0; r < rows; ++r)
    for (int32_t c = visible.first[r]; c < visible.last[r]; ++c)
      last[c] = static_cast<int32_t>(r + 1);
}

} // namespace weft::cpu
