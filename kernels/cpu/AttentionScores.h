//===- AttentionScores.h - One block of scores of one head ----------------===//
//
// What forward and backward share: the sizes of blocks, which blocks can be skipped because no query of
// theirs sees a key of theirs, and the products q k^T of a block with the description of its mask.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_ATTENTIONSCORES_H
#define WEFT_KERNELS_CPU_ATTENTIONSCORES_H

#include "kernels/common/Kernel.h"
#include "kernels/cpu/AttentionBlocks.h"
#include "kernels/cpu/AttentionRows.h"
#include "kernels/cpu/AttentionShape.h"

namespace weft::cpu {

constexpr int64_t kQueryBlock = 64;
constexpr int64_t kKeyBlock = 128;

/// Consecutive queries or keys of one batch row: [first, first + count).
struct Span {
  int64_t first;
  int64_t count;
  int64_t end() const { return first + count; }
};

inline Span queryBlock(const AttentionShape &shape, int64_t index) {
  return {index * kQueryBlock, std::min(kQueryBlock, shape.queries - index * kQueryBlock)};
}
inline Span keyBlock(const AttentionShape &shape, int64_t index) {
  return {index * kKeyBlock, std::min(kKeyBlock, shape.keys - index * kKeyBlock)};
}
inline int64_t queryBlocks(const AttentionShape &shape) {
  return (shape.queries + kQueryBlock - 1) / kQueryBlock;
}
inline int64_t keyBlocks(const AttentionShape &shape) { return (shape.keys + kKeyBlock - 1) / kKeyBlock; }

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

/// The visible columns of each row of a block; filled in place, no allocation. Without positions they are
/// columns [first, last). With positions they are those whose position is in [first, last], or all of them
/// where `positions` is null.
struct VisibleColumns {
  int32_t first[kQueryBlock];
  int32_t last[kQueryBlock];
  const int32_t *positions = nullptr;
  VisibleColumns(const AttentionShape &shape, const BatchRow &row, Span queries, Span keys);

private:
  void findByPosition(const AttentionShape &shape, const RowNumbers &positions, Span queries, Span keys);
};

/// Writes q k^T into `scores` [queries, kKeyBlock] and describes the block for the row functions.
template <typename T>
ScoreBlock<T> computeScores(const AttentionShape &shape, const BatchRow &row, Span queries, Span keys,
                            const VisibleColumns &visible, Block<T> q, Block<T> k, T *scores) {
  multiplyBlocks(queries.count, keys.count, shape.depth, q.data, {q.stride, 1}, k.data, {1, k.stride}, scores,
                 kKeyBlock, T(0));
  return {scores,
          kKeyBlock,
          queries.count,
          keys.count,
          static_cast<T>(shape.scale),
          static_cast<T>(shape.softcap),
          visible.first,
          visible.last,
          visible.positions,
          row.segments.queries ? row.segments.queries + queries.first : nullptr,
          row.segments.keys ? row.segments.keys + keys.first : nullptr};
}

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_ATTENTIONSCORES_H
