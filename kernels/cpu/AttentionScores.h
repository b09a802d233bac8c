//===- AttentionScores.h - One block of scores of one head ----------------===//
//
// What forward and backward share: the sizes of blocks, which blocks can be skipped because no query of
// theirs sees a key of theirs, which columns each row of a block sees, and the products q k^T of a block with
// the description of its mask. Blocks are small enough that the scores of one stay in the first-level cache.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_ATTENTIONSCORES_H
#define WEFT_KERNELS_CPU_ATTENTIONSCORES_H

#include "kernels/common/Kernel.h"
#include "kernels/cpu/AttentionBlocks.h"
#include "kernels/cpu/AttentionRows.h"
#include "kernels/cpu/AttentionShape.h"
#include "kernels/cpu/BlockProduct.h"

#include <cmath>
#include <limits>

namespace weft::cpu {

constexpr int64_t kQueryBlock = 48;
constexpr int64_t kKeyBlock = 128;
/// Elements from one row of scores to the next: rows in a column do not share their place in the cache.
constexpr int64_t kScoreStride = kKeyBlock + 16;

/// Consecutive queries or keys of one batch row: [first, first + count).
struct Span {
  int64_t first;
  int64_t count;
  int64_t end() const { return first + count; }
};

inline Span queryBlock(Span queries, int64_t index) {
  return {queries.first + index * kQueryBlock, std::min(kQueryBlock, queries.count - index * kQueryBlock)};
}
inline Span keyBlock(const AttentionShape &shape, int64_t index) {
  return {index * kKeyBlock, std::min(kKeyBlock, shape.keys - index * kKeyBlock)};
}
inline int64_t queryBlocks(Span queries) { return (queries.count + kQueryBlock - 1) / kQueryBlock; }
inline int64_t keyBlocks(const AttentionShape &shape) { return (shape.keys + kKeyBlock - 1) / kKeyBlock; }

/// How large a tile of queries is at most.
struct QueryTileLimits {
  int64_t block;    ///< queries of a block
  int64_t elements; ///< of its queries or outputs
  int64_t mostBlocks;
};

/// Tiles of some query blocks of one head: keys and values are packed once for all blocks of a tile.
struct QueryTiles {
  int64_t rows;  ///< of a tile, the last may have fewer
  int64_t count; ///< of one head
  QueryTiles(const AttentionShape &shape, QueryTileLimits limits);
  Span span(const AttentionShape &shape, int64_t index) const {
    return {index * rows, std::min(rows, shape.queries - index * rows)};
  }
  /// Roughly how long a tile takes: the keys that its queries may see, and what is done once per query.
  int64_t work(const AttentionShape &shape, int64_t index) const;
};

/// Queries, their output, and the packed keys and values of a block share the second-level cache.
constexpr QueryTileLimits kQueryTileLimits = {.block = kQueryBlock, .elements = 24 * 1024, .mostBlocks = 6};

/// A number for each query and each key of one batch row; null when the call has none.
struct RowNumbers {
  const int32_t *queries = nullptr;
  const int32_t *keys = nullptr;
};

/// What the call says of the queries and keys of one batch row.
struct BatchRow {
  RowNumbers segments, positions;
  /// Segments, then positions, begin at `operand`, where the call has them.
  BatchRow(const AttentionShape &shape, const KernelArguments &arguments, size_t operand, int64_t batch);
};

/// Where positions `span` of one head lie in a tensor [batch, positions, heads, size].
inline BlockPlace headPlace(int64_t batch, Span span, int64_t positions, int64_t head, int64_t heads,
                            int64_t size) {
  return {((batch * positions + span.first) * heads + head) * size, span.count, size, heads * size};
}

/// False when no query of the block sees a key of the block: such a block changes nothing and is skipped.
bool blockIsVisible(const AttentionShape &shape, const BatchRow &row, Span queries, Span keys);

/// The visible columns of each row of a block; filled in place, no allocation. Row r sees none but columns
/// [first[r], last[r]), and all of them unless there are numbers to compare one by one: positions that do not
/// ascend, or a segment that lies in several parts of the block.
struct VisibleColumns {
  int32_t first[kQueryBlock];
  int32_t last[kQueryBlock];
  int32_t leastPosition[kQueryBlock];
  int32_t mostPosition[kQueryBlock];
  const int32_t *positions = nullptr;     ///< of the keys, or null
  const int32_t *querySegments = nullptr; ///< with keySegments
  const int32_t *keySegments = nullptr;   ///< of the keys, or null
  bool any = false;                       ///< some row sees some column
  bool all = true;                        ///< every row sees every column
  VisibleColumns(const AttentionShape &shape, const BatchRow &row, Span queries, Span keys);

  RowRanges ranges() const { return all ? RowRanges{} : RowRanges{first, last}; }

private:
  void findByPosition(const AttentionShape &shape, const RowNumbers &positions, Span queries, Span keys);
  void limitToSegments(const RowNumbers &segments, Span queries, Span keys);
};

/// The rows of a block that see each of its columns, at least.
struct VisibleRows {
  int32_t first[kKeyBlock];
  int32_t last[kKeyBlock];
  bool all;
  VisibleRows(const VisibleColumns &visible, int64_t rows, int64_t columns);
  RowRanges ranges() const { return all ? RowRanges{} : RowRanges{first, last}; }
};

/// Writes q k^T into `scores` [queries, kScoreStride] and describes the block for the row functions. `q` has
/// `depth` elements a row, `k` are panels of k^T.
template <typename T>
ScoreBlock<T> computeScores(const AttentionShape &shape, Span queries, Span keys,
                            const VisibleColumns &visible, const T *q, const T *k, T *scores) {
  multiplyPanels(BlockProduct<T>{.rows = queries.count,
                                 .columns = keys.count,
                                 .depth = shape.depth,
                                 .a = q,
                                 .aStrides = {shape.depth, 1},
                                 .panels = k,
                                 .c = scores,
                                 .cRow = kScoreStride,
                                 .neededColumns = visible.ranges()});
  return {scores,
          kScoreStride,
          queries.count,
          keys.count,
          static_cast<T>(shape.scale),
          static_cast<T>(shape.softcap),
          visible.first,
          visible.last,
          visible.positions,
          visible.leastPosition,
          visible.mostPosition,
          visible.querySegments,
          visible.keySegments,
          shape.ofBFloat16()};
}

/// Stores the log-sum-exp of a row at `statistic`, with its sink's share, and returns what the row of the
/// output is multiplied by: 0 where it sees nothing, or nothing but its sink. Segments, positions and sinks
/// begin at operand `optional`.
template <typename T>
T finishRow(const AttentionShape &shape, const KernelArguments &arguments, size_t optional, int64_t head,
            int64_t statistic, T maximum, T sum) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  T factor = 1;
  if (shape.hasSinks) {
    const T sink = loadStatistic<T>(shape.sinks, arguments.operands[shape.sinksOperand(optional)], head);
    const T most = std::max(maximum, sink);
    factor = maximum == kNone ? T(0) : std::exp(maximum - most);
    sum = (maximum == kNone ? T(0) : sum * factor) + std::exp(sink - most);
    maximum = most;
  }
  const bool empty = maximum == kNone;
  storeStatistic(shape.statistics, arguments.results[1], statistic, empty ? kNone : maximum + std::log(sum));
  return empty ? T(0) : factor / sum;
}

/// The sink's weight exp(sink - lse) takes from the others: its gradient is -weight * D, summed over all
/// rows. `dots` are D of all heads, [batch, heads, queries].
template <typename T>
void sumSinkGradient(const AttentionShape &shape, const GradientTypes &types,
                     const KernelArguments &arguments, size_t logSumExp, size_t optional, int64_t head,
                     const T *dots, void *result) {
  const double sink =
      loadStatistic<double>(shape.sinks, arguments.operands[shape.sinksOperand(optional)], head);
  double gradient = 0;
  for (int64_t batch = 0; batch < shape.batch; ++batch) {
    const int64_t first = (batch * shape.heads + head) * shape.queries;
    for (int64_t i = first; i < first + shape.queries; ++i) {
      const double lse = loadStatistic<double>(shape.statistics, arguments.operands[logSumExp], i);
      if (lse != -std::numeric_limits<double>::infinity())
        gradient -= std::exp(sink - lse) * dots[i];
    }
  }
  storeStatistic(types.sinks, result, head, gradient);
}

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_ATTENTIONSCORES_H
