//===- Attention.cpp - Blocked attention, forward -------------------------===//
//
// A tile is some blocks of queries of one head. It walks the key blocks that it sees, in order, with the
// online softmax (arXiv:2205.14135): weights relative to the running maximum, output rescaled when that
// maximum grows, divided by the sum at the end. Keys and values of a block are packed once for all blocks of
// the tile. Scratch per lane is one block of scores and what is packed; no queries x keys array exists.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/AttentionScores.h"
#include "kernels/cpu/AttentionTiles.h"
#include "kernels/cpu/Registry.h"

#include <cmath>
#include <limits>

namespace weft::cpu {
namespace {

/// Operands: q, k, v, then segments, positions and sinks where the call has them.
constexpr size_t kOptional = 3;

template <typename T> class AttentionForward final : public Kernel {
public:
  explicit AttentionForward(const AttentionShape &shape)
      : shape(shape), tiles(shape, kQueryTileLimits),
        lanes(shape.batch * shape.heads, tiles.count, [&](int64_t tile) { return tiles.work(shape, tile); }),
        laneBytes(LaneScratch(shape, tiles, nullptr).bytes) {}

  int64_t workspaceBytes() const override { return lanes.count() * laneBytes; }

  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    threads.forEachTile(lanes.count(), [&](int64_t lane, int) {
      LaneScratch scratch(shape, tiles, static_cast<char *>(arguments.workspace) + lane * laneBytes);
      for (int64_t tile = lanes.first(lane); tile < lanes.first(lane + 1); ++tile)
        runTile(arguments, tile, scratch);
    });
  }

private:
  struct LaneScratch {
    T *scores, *output, *maximum, *sum, *query, *keyPanels, *valuePanels, *key, *value;
    int64_t bytes;
    LaneScratch(const AttentionShape &shape, const QueryTiles &tiles, void *base) {
      Scratch scratch(base);
      scores = scratch.take<T>(kQueryBlock * kScoreStride);
      output = scratch.take<T>(tiles.rows * shape.width);
      maximum = scratch.take<T>(tiles.rows);
      sum = scratch.take<T>(tiles.rows);
      query = scratch.take<T>(tiles.rows * shape.depth);
      keyPanels = scratch.take<T>(panelElements(shape.depth, kKeyBlock));
      valuePanels = scratch.take<T>(panelElements(kKeyBlock, shape.width));
      key = scratch.take<T>(bufferElements<T>(shape.key, kKeyBlock, shape.depth));
      value = scratch.take<T>(bufferElements<T>(shape.value, kKeyBlock, shape.width));
      bytes = scratch.bytes();
    }
  };

  void runTile(const KernelArguments &arguments, int64_t tile, const LaneScratch &scratch) const {
    const int64_t head = tile / tiles.count % shape.heads, batch = tile / tiles.count / shape.heads;
    const Span queries = tiles.span(shape, tile % tiles.count);
    const BatchRow row(shape, arguments, kOptional, batch);
    copyBlock(shape.query, arguments.operands[0],
              headPlace(batch, queries, shape.queries, head, shape.heads, shape.depth), scratch.query);
    std::fill_n(scratch.maximum, queries.count, -std::numeric_limits<T>::infinity());
    std::fill_n(scratch.sum, queries.count, T(0));
    std::fill_n(scratch.output, queries.count * shape.width, T(0));
    for (int64_t b = 0; b < keyBlocks(shape); ++b) {
      const Span keys = keyBlock(shape, b);
      if (!blockIsVisible(shape, row, queries, keys))
        continue;
      packKeys(arguments, batch, head / shape.headsPerGroup(), keys, scratch);
      for (int64_t block = 0; block < queryBlocks(queries); ++block)
        runBlock(row, queries, queryBlock(queries, block), keys, scratch);
    }
    finishTile(arguments, batch, head, queries, scratch);
  }

  void packKeys(const KernelArguments &arguments, int64_t batch, int64_t group, Span keys,
                const LaneScratch &scratch) const {
    const Block<T> k =
        loadBlock(shape.key, arguments.operands[1],
                  headPlace(batch, keys, shape.keys, group, shape.groups, shape.depth), scratch.key);
    packTransposedPanels(k.data, k.stride, shape.depth, keys.count, scratch.keyPanels);
    const Block<T> v =
        loadBlock(shape.value, arguments.operands[2],
                  headPlace(batch, keys, shape.keys, group, shape.groups, shape.width), scratch.value);
    packPanels(v.data, v.stride, keys.count, shape.width, scratch.valuePanels);
  }

  /// Adds what the queries of one block of the tile see of a block of keys.
  void runBlock(const BatchRow &row, Span tile, Span queries, Span keys, const LaneScratch &scratch) const {
    if (!blockIsVisible(shape, row, queries, keys))
      return;
    const VisibleColumns visible(shape, row, queries, keys);
    if (!visible.any)
      return;
    const int64_t first = queries.first - tile.first;
    T *output = scratch.output + first * shape.width;
    const ScoreBlock<T> scores =
        computeScores(shape, queries, keys, visible, scratch.query + first * shape.depth, scratch.keyPanels,
                      scratch.scores);
    softmaxRows(scores, scratch.maximum + first, scratch.sum + first, output, shape.width);
    multiplyPanels(BlockProduct<T>{.rows = queries.count,
                                   .columns = shape.width,
                                   .depth = keys.count,
                                   .a = scratch.scores,
                                   .aStrides = {kScoreStride, 1},
                                   .panels = scratch.valuePanels,
                                   .c = output,
                                   .cRow = shape.width,
                                   .accumulate = true,
                                   .neededDepth = visible.ranges()});
  }

  /// Divides by the sums (and the sink's share), stores output and log-sum-exp.
  void finishTile(const KernelArguments &arguments, int64_t batch, int64_t head, Span queries,
                  const LaneScratch &scratch) const {
    for (int64_t r = 0; r < queries.count; ++r) {
      T *out = scratch.output + r * shape.width;
      const int64_t statistic = (batch * shape.heads + head) * shape.queries + queries.first + r;
      const T factor =
          finishRow(shape, arguments, kOptional, head, statistic, scratch.maximum[r], scratch.sum[r]);
      if (factor == 0)
        std::fill_n(out, shape.width, T(0));
      for (int64_t i = 0; i < shape.width; ++i)
        out[i] *= factor;
    }
    storeBlock(scratch.output, shape.width, shape.output, arguments.results[0],
               headPlace(batch, queries, shape.queries, head, shape.heads, shape.width));
  }

  AttentionShape shape;
  QueryTiles tiles;
  Lanes lanes;
  int64_t laneBytes;
};

} // namespace

KernelOrError createAttention(const KernelCall &call) {
  absl::StatusOr<AttentionShape> shape = AttentionShape::forward(call);
  if (!shape.ok())
    return shape.status();
  if (shape->wide)
    return std::make_unique<AttentionForward<double>>(*shape);
  if (takesTiles(*shape))
    return createTileAttention(*shape);
  return std::make_unique<AttentionForward<float>>(*shape);
}

} // namespace weft::cpu
