//===- AttentionTilesBackward.cpp - Attention of bfloat16 by tiles, gradients ===//
//
// AttentionBackward.cpp for operands of bfloat16 on a processor with tiles. Scores and the gradients of
// weights lie transposed, K Q^T and V dO^T; rounded to bfloat16, P^T and dS^T are left matrices as they lie
// for dv = P^T dO and dk = dS^T Q, and dS^T is the right one of dq^T = K^T dS^T. A tile owns what it sums
// into. Where there are enough key groups, one tile does a whole group in one pass, with its dq in float32;
// else blocks of keys are tiles of their own, and dq takes a second pass.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/AttentionTileRows.h"
#include "kernels/cpu/AttentionTiles.h"

#include <cmath>

namespace weft::cpu {
namespace {

/// Operands: do, q, k, v, o, lse, then segments, positions and sinks where the call has them.
enum Operand : size_t { kOutputGradient, kQuery, kKey, kValue, kOutput, kLogSumExp, kOptional };
enum Result : size_t { kQueryGradient, kKeyGradient, kValueGradient, kSinkGradient };

/// Queries of a block.
constexpr int64_t kQueries = 128;
constexpr int64_t kQueryPairs = kQueries / kTileQueries, kKeyPairs = kTileKeys / kTileDepth;
/// From one strip of keys to the next of a left matrix whose depth are the queries of a block.
constexpr int64_t kQueryDepthStrip = kQueries * kStrip;

/// What a tile works for.
struct Wanted {
  bool keys, queries;
};

class TileAttentionBackward final : public Kernel {
public:
  TileAttentionBackward(const AttentionShape &shape, const GradientTypes &types)
      : shape(shape), types(types), onePass(shape.batch * shape.groups >= kOnePassTiles),
        depth(tileCount(shape.depth)), width(tileCount(shape.width)),
        queryTiles(shape, {.block = kTileQueries, .elements = 64 * 1024, .mostBlocks = kQueryPairs}),
        dotLanes(shape.batch * shape.heads),
        keyLanes(shape.batch * shape.groups, onePass ? 1 : keyBlocks(),
                 [&](int64_t tile) { return onePass ? 1 : keyWork(keyBlock(tile)); }),
        queryLanes(shape.batch * shape.heads, queryTiles.count,
                   [&](int64_t tile) { return queryTiles.work(shape, tile); }),
        laneBytes(LaneScratch(*this, nullptr, nullptr).bytes) {
    Scratch scratch(nullptr);
    scratch.take<float>(shape.batch * shape.heads * shape.queries);
    dotBytes = scratch.bytes();
  }

  int64_t workspaceBytes() const override {
    const int64_t lanes = std::max(dotLanes.count(), keyLanes.count());
    return dotBytes + laneBytes * (onePass ? lanes : std::max(lanes, queryLanes.count()));
  }

  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    forEachTileOf(dotLanes, arguments, threads, [&](int64_t tile, const LaneScratch &scratch) {
      computeDots(arguments, tile / shape.heads, tile % shape.heads, scratch);
    });
    forEachTileOf(keyLanes, arguments, threads, [&](int64_t tile, const LaneScratch &scratch) {
      if (onePass)
        return runGroup(arguments, tile / shape.groups, tile % shape.groups, scratch);
      const int64_t blocks = keyBlocks(), group = tile / blocks % shape.groups;
      runKeyBlock(arguments, tile / blocks / shape.groups, group, keyBlock(tile % blocks), scratch);
    });
    if (!onePass)
      forEachTileOf(queryLanes, arguments, threads, [&](int64_t tile, const LaneScratch &scratch) {
        const int64_t head = tile / queryTiles.count % shape.heads;
        runQueryTile(arguments, tile / queryTiles.count / shape.heads, head,
                     queryTiles.span(shape, tile % queryTiles.count), scratch);
      });
    if (shape.hasSinks)
      threads.forEachTile(shape.heads, [&](int64_t head, int) {
        sumSinkGradient(shape, types, arguments, kLogSumExp, kOptional, head, dots(arguments, 0, 0),
                        arguments.results[kSinkGradient]);
      });
  }

private:
  /// From this many groups on, a tile per group keeps the threads of a rank busy.
  static constexpr int64_t kOnePassTiles = 8;

  /// On the stack: what a block of queries and one of keys have between them, whatever the size of a head.
  struct BlockScratch {
    alignas(64) BFloat16 weights[kTileKeys * kQueries], gradients[kTileKeys * kQueries];
    alignas(64) BFloat16 gradientsRight[2 * kKeyDepthStrip];
    alignas(64) float scores[2 * kScoreStrip], weightGradients[2 * kScoreStrip];
  };

  struct LaneScratch {
    BFloat16 *keyLeft, *keyTransposed, *valueLeft;
    BFloat16 *query, *queryTransposed, *outputGradient, *outputGradientTransposed;
    BFloat16 *weights, *gradients, *gradientsRight;
    float *scores, *weightGradients, *keyGradient, *valueGradient, *queryGradient;
    float *logSumExp, *dot, *rows, *otherRows;
    int64_t bytes;
    LaneScratch(const TileAttentionBackward &owner, void *base, BlockScratch *block) {
      const int64_t depth = owner.depth * kTileDepth, width = owner.width * kTileDepth;
      Scratch scratch(base);
      keyLeft = scratch.take<BFloat16>(kTileKeys * depth);
      keyTransposed = scratch.take<BFloat16>(kTileKeys * depth);
      valueLeft = scratch.take<BFloat16>(kTileKeys * width);
      query = scratch.take<BFloat16>(kQueries * depth);
      queryTransposed = scratch.take<BFloat16>(kQueries * depth);
      outputGradient = scratch.take<BFloat16>(kQueries * width);
      outputGradientTransposed = scratch.take<BFloat16>(kQueries * width);
      if (block) {
        weights = block->weights, gradients = block->gradients, gradientsRight = block->gradientsRight;
        scores = block->scores, weightGradients = block->weightGradients;
      }
      keyGradient = scratch.take<float>(kTileKeys * depth);
      valueGradient = scratch.take<float>(kTileKeys * width);
      queryGradient = scratch.take<float>(owner.onePass ? owner.shape.headsPerGroup() * owner.headStrips() *
                                                              owner.depthStrip()
                                                        : kQueries * depth);
      logSumExp = scratch.take<float>(kQueries);
      dot = scratch.take<float>(kQueries);
      rows = scratch.take<float>(kStrip * std::max(depth, width));
      otherRows = scratch.take<float>(kStrip * width);
      bytes = scratch.bytes();
    }
  };

  int64_t keyBlocks() const { return (shape.keys + kTileKeys - 1) / kTileKeys; }
  Span keyBlock(int64_t index) const {
    return {index * kTileKeys, std::min(kTileKeys, shape.keys - index * kTileKeys)};
  }
  /// Strips of the queries of a head.
  int64_t headStrips() const { return tilePadded(shape.queries) / kStrip; }
  /// Elements of the sums of one strip of queries or keys.
  int64_t depthStrip() const { return 2 * depth * kTileSums; }
  int64_t widthStrip() const { return 2 * width * kTileSums; }

  /// How many queries may see a block of keys, and what is done once per block.
  int64_t keyWork(Span keys) const {
    int64_t first = 0, last = shape.queries;
    if (!shape.hasPositions) {
      const int64_t offset = shape.keys - shape.queries;
      if (shape.causal)
        first = std::max(first, keys.first - offset);
      if (shape.window > 0)
        last = std::min(last, keys.end() - 1 - offset + shape.window);
    }
    return std::max<int64_t>(last - first, 0) + kTileQueries;
  }

  template <typename Body>
  void forEachTileOf(const Lanes &lanes, const KernelArguments &arguments, ThreadPool &threads,
                     const Body &body) const {
    threads.forEachTile(lanes.count(), [&](int64_t lane, int) {
      const TilesInUse inUse;
      BlockScratch block;
      LaneScratch scratch(*this, static_cast<char *>(arguments.workspace) + dotBytes + lane * laneBytes,
                          &block);
      for (int64_t tile = lanes.first(lane); tile < lanes.first(lane + 1); ++tile)
        body(tile, scratch);
    });
  }

  /// D of one head of one batch row, at [batch, heads, queries] like lse.
  float *dots(const KernelArguments &arguments, int64_t batch, int64_t head) const {
    return static_cast<float *>(arguments.workspace) + (batch * shape.heads + head) * shape.queries;
  }

  BlockPlace queryPlace(int64_t batch, int64_t head, Span queries, int64_t size) const {
    return headPlace(batch, queries, shape.queries, head, shape.heads, size);
  }
  BlockPlace keyPlace(int64_t batch, int64_t group, Span keys, int64_t size) const {
    return headPlace(batch, keys, shape.keys, group, shape.groups, size);
  }

  void computeDots(const KernelArguments &arguments, int64_t batch, int64_t head,
                   const LaneScratch &scratch) const {
    for (int64_t first = 0; first < shape.queries; first += kStrip) {
      const Span queries = {first, std::min(kStrip, shape.queries - first)};
      const BlockPlace place = queryPlace(batch, head, queries, shape.width);
      const Block<float> gradient =
          loadBlock(types.output, arguments.operands[kOutputGradient], place, scratch.rows);
      const Block<float> output =
          loadBlock(shape.output, arguments.operands[kOutput], place, scratch.otherRows);
      dotRows(gradient.data, gradient.stride, output.data, output.stride, queries.count, shape.width,
              dots(arguments, batch, head) + first);
    }
  }

  void packKeys(const KernelArguments &arguments, int64_t batch, int64_t group, Span keys,
                const LaneScratch &scratch) const {
    const PackedFrom key = packedFrom(arguments.operands[kKey], keyPlace(batch, group, keys, shape.depth));
    packLeft(key, scratch.keyLeft);
    packLeftTransposed(key, scratch.keyTransposed);
    packLeft(packedFrom(arguments.operands[kValue], keyPlace(batch, group, keys, shape.width)),
             scratch.valueLeft);
  }

  /// Queries, gradients of outputs and statistics of one block; statistics are 0 where queries end.
  void packQueries(const KernelArguments &arguments, int64_t batch, int64_t head, Span queries, Wanted wanted,
                   const LaneScratch &scratch) const {
    const PackedFrom query =
        packedFrom(arguments.operands[kQuery], queryPlace(batch, head, queries, shape.depth));
    const PackedFrom gradient =
        packedFrom(arguments.operands[kOutputGradient], queryPlace(batch, head, queries, shape.width));
    packRightTransposed(query, scratch.queryTransposed);
    packRightTransposed(gradient, scratch.outputGradientTransposed);
    if (wanted.keys) {
      packRight(query, scratch.query);
      packRight(gradient, scratch.outputGradient);
    }
    const float *dot = dots(arguments, batch, head) + queries.first;
    const int64_t row = (batch * shape.heads + head) * shape.queries + queries.first;
    for (int64_t r = 0; r < tilePadded(queries.count); ++r) {
      const bool exists = r < queries.count;
      scratch.logSumExp[r] =
          exists ? loadStatistic<float>(shape.statistics, arguments.operands[kLogSumExp], row + r) : 0;
      scratch.dot[r] = exists ? dot[r] : 0;
    }
  }

  /// One group of heads in one pass: dk, dv, and dq, which all blocks of keys add to.
  void runGroup(const KernelArguments &arguments, int64_t batch, int64_t group,
                const LaneScratch &scratch) const {
    std::fill_n(scratch.queryGradient, shape.headsPerGroup() * headStrips() * depthStrip(), 0.0f);
    for (int64_t block = 0; block < keyBlocks(); ++block)
      runKeyBlock(arguments, batch, group, keyBlock(block), scratch);
    for (int64_t h = 0; h < shape.headsPerGroup(); ++h)
      storeQueryGradient(arguments, batch, group * shape.headsPerGroup() + h, {0, shape.queries},
                         scratch.queryGradient + h * headStrips() * depthStrip(), scratch);
  }

  /// dk and dv of one block of keys, over the heads of its group; in one pass also adds to dq.
  void runKeyBlock(const KernelArguments &arguments, int64_t batch, int64_t group, Span keys,
                   const LaneScratch &scratch) const {
    const BatchRow row(shape, arguments, kOptional, batch);
    packKeys(arguments, batch, group, keys, scratch);
    std::fill_n(scratch.keyGradient, tilePadded(keys.count) / kStrip * depthStrip(), 0.0f);
    std::fill_n(scratch.valueGradient, tilePadded(keys.count) / kStrip * widthStrip(), 0.0f);
    for (int64_t h = 0; h < shape.headsPerGroup(); ++h)
      for (int64_t first = 0; first < shape.queries; first += kQueries) {
        const Span queries = {first, std::min(kQueries, shape.queries - first)};
        if (!blockIsVisible(shape, row, queries, keys))
          continue;
        const Wanted wanted = {true, onePass};
        packQueries(arguments, batch, group * shape.headsPerGroup() + h, queries, wanted, scratch);
        addBlock(row, queries, keys, wanted,
                 scratch.queryGradient + (h * headStrips() + first / kStrip) * depthStrip(), scratch);
      }
    storeKeyGradient(keyPlace(batch, group, keys, shape.depth), depth, scratch.keyGradient, types.key,
                     arguments.results[kKeyGradient], scratch);
    storeKeyGradient(keyPlace(batch, group, keys, shape.width), width, scratch.valueGradient, types.value,
                     arguments.results[kValueGradient], scratch);
  }

  /// dq of one tile of queries: the second pass.
  void runQueryTile(const KernelArguments &arguments, int64_t batch, int64_t head, Span queries,
                    const LaneScratch &scratch) const {
    const BatchRow row(shape, arguments, kOptional, batch);
    const Wanted wanted = {false, true};
    packQueries(arguments, batch, head, queries, wanted, scratch);
    std::fill_n(scratch.queryGradient, tilePadded(queries.count) / kStrip * depthStrip(), 0.0f);
    for (int64_t block = 0; block < keyBlocks(); ++block) {
      const Span keys = keyBlock(block);
      if (!blockIsVisible(shape, row, queries, keys))
        continue;
      packKeys(arguments, batch, head / shape.headsPerGroup(), keys, scratch);
      addBlock(row, queries, keys, wanted, scratch.queryGradient, scratch);
    }
    storeQueryGradient(arguments, batch, head, queries, scratch.queryGradient, scratch);
  }

  /// For each pair of strips of keys: the pairs of queries that see some of it, one after the other.
  struct SeeingPairs {
    int64_t first[kKeyPairs], last[kKeyPairs];
    SeeingPairs() {
      std::fill_n(first, kKeyPairs, kQueryPairs);
      std::fill_n(last, kKeyPairs, 0);
    }
    void add(const KeyPart &part, int64_t pair) {
      for (int64_t key = part.first / kTileDepth; key < part.last / kTileDepth; ++key)
        first[key] = std::min(first[key], pair), last[key] = pair + 1;
    }
  };

  /// Adds what the queries of one block see of a block of keys to the gradients that are wanted.
  void addBlock(const BatchRow &row, Span queries, Span keys, Wanted wanted, float *queryGradient,
                const LaneScratch &scratch) const {
    SeeingPairs seeing;
    for (int64_t pair = 0; pair < tileCount(queries.count); ++pair) {
      const Span some = pairOfQueries(queries, pair);
      const VisibleColumns visible(shape, row, some, keys);
      const KeyPart part(visible, some.count, keys.count);
      if (wanted.keys)
        clearOutside(part, keys, pair, scratch);
      if (!visible.any)
        continue;
      seeing.add(part, pair);
      computePair(visible, some, keys, part, pair, scratch);
      if (wanted.queries)
        addQueryGradient(part, keys, queryGradient + 2 * pair * depthStrip(), scratch);
    }
    if (wanted.keys)
      addKeyGradients(seeing, queries, keys, scratch);
  }

  /// Zeros for keys that a pair of queries does not see: others may see them.
  static void clearOutside(const KeyPart &part, Span keys, int64_t pair, const LaneScratch &scratch) {
    for (int64_t strip = 0; strip < tilePadded(keys.count) / kStrip; ++strip)
      if (strip * kStrip < part.first || strip * kStrip >= part.last) {
        std::fill_n(scratch.weights + strip * kQueryDepthStrip + pair * kTileElements, kTileElements,
                    BFloat16());
        std::fill_n(scratch.gradients + strip * kQueryDepthStrip + pair * kTileElements, kTileElements,
                    BFloat16());
      }
  }

  /// P^T and the gradients of K Q^T for a pair of strips of queries, rounded.
  void computePair(const VisibleColumns &visible, Span queries, Span keys, const KeyPart &part, int64_t pair,
                   const LaneScratch &scratch) const {
    TileProduct product = {.rowPairs = (part.last - part.first) / kTileDepth,
                           .columnPairs = 1,
                           .depth = depth,
                           .a = scratch.keyLeft + part.first * depth * kTileDepth,
                           .aStrip = depth * kTileElements,
                           .b = scratch.queryTransposed + pair * kTileDepth * depth * kTileDepth,
                           .bStrip = depth * kTileElements,
                           .c = scratch.scores + part.first * kStrip,
                           .cBelow = kTileSums,
                           .cBeside = kScoreStrip,
                           .accumulate = false};
    multiplyTiles(product);
    product.depth = width, product.aStrip = product.bStrip = width * kTileElements;
    product.a = scratch.valueLeft + part.first * width * kTileDepth;
    product.b = scratch.outputGradientTransposed + pair * kTileDepth * width * kTileDepth;
    product.c = scratch.weightGradients + part.first * kStrip;
    multiplyTiles(product);
    const TileMask mask(visible, queries.count, keys.count);
    const ScoreTiles block = {scratch.scores, static_cast<float>(shape.scale),
                              static_cast<float>(shape.softcap),
                              isWhole(visible, keys) && queries.count % kTileDepth == 0 ? nullptr : &mask};
    scoreGradientTiles(block, scratch.weightGradients, part.first, part.last,
                       scratch.logSumExp + pair * kTileQueries, scratch.dot + pair * kTileQueries,
                       {scratch.weights + pair * kTileElements, scratch.gradients + pair * kTileElements,
                        kQueryDepthStrip, scratch.gradientsRight});
  }

  /// dq^T += K^T dS^T.
  void addQueryGradient(const KeyPart &part, Span keys, float *gradient, const LaneScratch &scratch) const {
    multiplyTiles({.rowPairs = depth,
                   .columnPairs = 1,
                   .depth = (part.last - part.first) / kTileDepth,
                   .a = scratch.keyTransposed + part.first * kStrip,
                   .aStrip = tileCount(keys.count) * kTileElements,
                   .b = scratch.gradientsRight + part.first * kStrip,
                   .bStrip = kKeyDepthStrip,
                   .c = gradient,
                   .cBelow = kTileSums,
                   .cBeside = depthStrip(),
                   .accumulate = true});
  }

  /// dv += P^T dO and dk += dS^T Q, for each pair of strips of keys over the queries that see it.
  void addKeyGradients(const SeeingPairs &seeing, Span queries, Span keys, const LaneScratch &scratch) const {
    for (int64_t pair = 0; pair < tileCount(keys.count); ++pair) {
      const int64_t first = seeing.first[pair], last = seeing.last[pair];
      if (first >= last)
        continue;
      const int64_t left = 2 * pair * kQueryDepthStrip + first * kTileElements;
      TileProduct product = {.rowPairs = 1,
                             .columnPairs = width,
                             .depth = last - first,
                             .a = scratch.weights + left,
                             .aStrip = kQueryDepthStrip,
                             .b = scratch.outputGradient + first * kTileElements,
                             .bStrip = tileCount(queries.count) * kTileElements,
                             .c = scratch.valueGradient + 2 * pair * widthStrip(),
                             .cBelow = widthStrip(),
                             .cBeside = kTileSums,
                             .accumulate = true};
      multiplyTiles(product);
      product.columnPairs = depth, product.cBelow = depthStrip();
      product.a = scratch.gradients + left, product.b = scratch.query + first * kTileElements;
      product.c = scratch.keyGradient + 2 * pair * depthStrip();
      multiplyTiles(product);
    }
  }

  /// Strip by strip of keys; `size` is that of a key or a value, in tiles of depth.
  void storeKeyGradient(BlockPlace place, int64_t size, const float *gradient, DType type, void *result,
                        const LaneScratch &scratch) const {
    for (int64_t left = place.rows; left > 0; left -= kStrip) {
      copyTiles(gradient, 2 * size, scratch.rows, size * kTileDepth);
      place.rows = std::min(kStrip, left);
      storeBlock(scratch.rows, size * kTileDepth, type, result, place);
      place.offset += kStrip * place.stride;
      gradient += 2 * size * kTileSums;
    }
  }

  void storeQueryGradient(const KernelArguments &arguments, int64_t batch, int64_t head, Span queries,
                          const float *gradient, const LaneScratch &scratch) const {
    BlockPlace place = queryPlace(batch, head, queries, shape.depth);
    for (int64_t left = queries.count; left > 0; left -= kStrip) {
      copyTilesTransposed(gradient, 2 * depth, scratch.rows, depth * kTileDepth);
      place.rows = std::min(kStrip, left);
      storeBlock(scratch.rows, depth * kTileDepth, types.query, arguments.results[kQueryGradient], place);
      place.offset += kStrip * place.stride;
      gradient += depthStrip();
    }
  }

  AttentionShape shape;
  GradientTypes types;
  bool onePass;
  int64_t depth, width; ///< in tiles of depth
  QueryTiles queryTiles;
  Lanes dotLanes, keyLanes, queryLanes;
  int64_t laneBytes, dotBytes;
};

} // namespace

std::unique_ptr<Kernel> createTileAttentionBackward(const AttentionShape &shape, const GradientTypes &types) {
  return std::make_unique<TileAttentionBackward>(shape, types);
}

} // namespace weft::cpu
