//===- AttentionTiles.cpp - Attention of bfloat16 by tiles, forward -------===//
//
// Attention.cpp for queries, keys and values of bfloat16 on a processor with tiles. Everything lies
// transposed: scores are K Q^T, and the output is summed as V^T P^T, so that a query is a lane of a vector
// from its first product to its division. Queries are packed once for a tile, keys and values once for each
// tile that sees them. Weights are rounded to bfloat16 before they are multiplied; their sums are not.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/AttentionTiles.h"

#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/AttentionTileRows.h"

#include <cmath>
#include <limits>

namespace weft::cpu {
namespace {

/// Operands: q, k, v, then segments, positions and sinks where the call has them.
constexpr size_t kOptional = 3;
/// Queries of a tile share the second-level cache with a block of keys and values.
constexpr QueryTileLimits kLimits = {.block = kTileQueries, .elements = 64 * 1024, .mostBlocks = 16};

class TileAttention final : public Kernel {
public:
  explicit TileAttention(const AttentionShape &shape)
      : shape(shape), depth(tileCount(shape.depth)), width(tileCount(shape.width)), tiles(shape, kLimits),
        lanes(shape.batch * shape.heads, tiles.count, [&](int64_t tile) { return tiles.work(shape, tile); }),
        laneBytes(LaneScratch(*this, nullptr).bytes) {}

  int64_t workspaceBytes() const override { return lanes.count() * laneBytes; }

  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    threads.forEachTile(lanes.count(), [&](int64_t lane, int) {
      const TilesInUse inUse;
      LaneScratch scratch(*this, static_cast<char *>(arguments.workspace) + lane * laneBytes);
      for (int64_t tile = lanes.first(lane); tile < lanes.first(lane + 1); ++tile)
        runTile(arguments, tile, scratch);
    });
  }

private:
  struct LaneScratch {
    BFloat16 *query, *key, *value, *weights;
    float *output, *maximum, *sum, *scores, *rows;
    int64_t bytes;
    LaneScratch(const TileAttention &owner, void *base) {
      const int64_t depth = owner.depth * kTileDepth, width = owner.width * kTileDepth;
      Scratch scratch(base);
      query = scratch.take<BFloat16>(owner.tiles.rows * depth);
      key = scratch.take<BFloat16>(kTileKeys * depth);
      value = scratch.take<BFloat16>(kTileKeys * width);
      weights = scratch.take<BFloat16>(2 * kKeyDepthStrip);
      output = scratch.take<float>(owner.tiles.rows * width);
      maximum = scratch.take<float>(owner.tiles.rows);
      sum = scratch.take<float>(owner.tiles.rows);
      scores = scratch.take<float>(2 * kScoreStrip);
      rows = scratch.take<float>(kStrip * width);
      bytes = scratch.bytes();
    }
  };

  /// Elements of the output of one strip of queries.
  int64_t outputStrip() const { return 2 * width * kTileSums; }

  void runTile(const KernelArguments &arguments, int64_t tile, const LaneScratch &scratch) const {
    const int64_t head = tile / tiles.count % shape.heads, batch = tile / tiles.count / shape.heads;
    const Span queries = tiles.span(shape, tile % tiles.count);
    const BatchRow row(shape, arguments, kOptional, batch);
    packRightTransposed(packedFrom(arguments.operands[0],
                                   headPlace(batch, queries, shape.queries, head, shape.heads, shape.depth)),
                        scratch.query);
    const int64_t padded = tilePadded(queries.count);
    std::fill_n(scratch.maximum, padded, -std::numeric_limits<float>::infinity());
    std::fill_n(scratch.sum, padded, 0.0f);
    std::fill_n(scratch.output, padded / kStrip * outputStrip(), 0.0f);
    for (int64_t first = 0; first < shape.keys; first += kTileKeys) {
      const Span keys = {first, std::min(kTileKeys, shape.keys - first)};
      if (!blockIsVisible(shape, row, queries, keys))
        continue;
      packKeys(arguments, batch, head / shape.headsPerGroup(), keys, scratch);
      for (int64_t pair = 0; pair < tileCount(queries.count); ++pair)
        runPair(row, queries, pair, keys, scratch);
    }
    finishTile(arguments, batch, head, queries, scratch);
  }

  void packKeys(const KernelArguments &arguments, int64_t batch, int64_t group, Span keys,
                const LaneScratch &scratch) const {
    packLeft(packedFrom(arguments.operands[1],
                        headPlace(batch, keys, shape.keys, group, shape.groups, shape.depth)),
             scratch.key);
    packLeftTransposed(packedFrom(arguments.operands[2],
                                  headPlace(batch, keys, shape.keys, group, shape.groups, shape.width)),
                       scratch.value);
  }

  /// Adds what a pair of strips of the tile's queries sees of a block of keys.
  void runPair(const BatchRow &row, Span tile, int64_t pair, Span keys, const LaneScratch &scratch) const {
    const Span queries = pairOfQueries(tile, pair);
    const VisibleColumns visible(shape, row, queries, keys);
    if (!visible.any)
      return;
    const KeyPart part(visible, queries.count, keys.count);
    const int64_t partTiles = (part.last - part.first) / kTileDepth;
    multiplyTiles({.rowPairs = partTiles,
                   .columnPairs = 1,
                   .depth = depth,
                   .a = scratch.key + part.first * depth * kTileDepth,
                   .aStrip = depth * kTileElements,
                   .b = scratch.query + pair * kTileDepth * depth * kTileDepth,
                   .bStrip = depth * kTileElements,
                   .c = scratch.scores + part.first * kStrip,
                   .cBelow = kTileSums,
                   .cBeside = kScoreStrip,
                   .accumulate = false});
    const TileMask mask(visible, queries.count, keys.count);
    const ScoreTiles block = scoreTiles(scratch, isWhole(visible, keys) ? nullptr : &mask);
    float *output = scratch.output + 2 * pair * outputStrip();
    softmaxTiles(block, part, scratch.maximum + pair * kTileQueries, scratch.sum + pair * kTileQueries,
                 output, 2 * width, scratch.weights);
    multiplyTiles({.rowPairs = width,
                   .columnPairs = 1,
                   .depth = partTiles,
                   .a = scratch.value + part.first * kStrip,
                   .aStrip = tileCount(keys.count) * kTileElements,
                   .b = scratch.weights + part.first * kStrip,
                   .bStrip = kKeyDepthStrip,
                   .c = output,
                   .cBelow = kTileSums,
                   .cBeside = outputStrip(),
                   .accumulate = true});
  }

  ScoreTiles scoreTiles(const LaneScratch &scratch, const TileMask *mask) const {
    return {scratch.scores, static_cast<float>(shape.scale), static_cast<float>(shape.softcap), mask};
  }

  /// Divides by the sums (and the sink's share), stores output and log-sum-exp.
  void finishTile(const KernelArguments &arguments, int64_t batch, int64_t head, Span queries,
                  const LaneScratch &scratch) const {
    const int64_t statistic = (batch * shape.heads + head) * shape.queries + queries.first;
    const float unit = scoreTiles(scratch, nullptr).unit();
    for (int64_t first = 0; first < queries.count; first += kStrip) {
      const Span strip = {queries.first + first, std::min(kStrip, queries.count - first)};
      float *factors = scratch.sum + first, *output = scratch.output + first / kStrip * outputStrip();
      for (int64_t i = 0; i < strip.count; ++i)
        factors[i] = finishRow(shape, arguments, kOptional, head, statistic + first + i,
                               scratch.maximum[first + i] * unit, factors[i]);
      scaleTiles(output, 2 * width, factors);
      copyTilesTransposed(output, 2 * width, scratch.rows, width * kTileDepth);
      storeBlock(scratch.rows, width * kTileDepth, shape.output, arguments.results[0],
                 headPlace(batch, strip, shape.queries, head, shape.heads, shape.width));
    }
  }

  AttentionShape shape;
  int64_t depth, width; ///< in tiles of depth
  QueryTiles tiles;
  Lanes lanes;
  int64_t laneBytes;
};

} // namespace

bool takesTiles(const AttentionShape &shape) { return multipliesByTiles() && shape.ofBFloat16(); }

std::unique_ptr<Kernel> createTileAttention(const AttentionShape &shape) {
  return std::make_unique<TileAttention>(shape);
}

} // namespace weft::cpu
