//===- AttentionBackward.cpp - Blocked attention, gradients ---------------===//
//
// The weights of a block are recomputed from the stored log-sum-exp (arXiv:2307.08691): with P = exp(S -
// lse), D = rowsum(do * o), dP = do v^T and dS = P (dP - D), the gradients are dv = P^T do, dk = dS^T q, dq =
// dS k. A tile owns what it sums into, and sums over heads, query blocks and key blocks in ascending order.
// Where there are enough key groups to keep threads busy, one tile does a whole group in one pass; else key
// blocks are tiles of their own, and dq takes a second pass. Which of the two, is a function of the call
// alone. Products leave out what the mask clears, row by row of a block, and column by column.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/AttentionScores.h"
#include "kernels/cpu/AttentionTiles.h"
#include "kernels/cpu/Registry.h"

#include <cmath>

namespace weft::cpu {
namespace {

/// Operands: do, q, k, v, o, lse, then segments, positions and sinks where the call has them.
enum Operand : size_t { kOutputGradient, kQuery, kKey, kValue, kOutput, kLogSumExp, kOptional };
enum Result : size_t { kQueryGradient, kKeyGradient, kValueGradient, kSinkGradient };

template <typename T> class AttentionBackward final : public Kernel {
public:
  AttentionBackward(const AttentionShape &shape, const GradientTypes &types)
      : shape(shape), types(types),
        onePass(shape.batch * shape.groups >= kOnePassTiles && types.query == kNativeType<T>),
        tiles(shape, kQueryTileLimits), dotLanes(shape.batch * shape.heads),
        keyLanes(shape.batch * shape.groups, onePass ? 1 : keyBlocks(shape),
                 [&](int64_t tile) { return onePass ? 1 : keyWork(keyBlock(shape, tile)); }),
        queryLanes(shape.batch * shape.heads, tiles.count,
                   [&](int64_t tile) { return tiles.work(shape, tile); }),
        laneBytes(LaneScratch(*this, nullptr).bytes) {
    Scratch scratch(nullptr);
    scratch.take<T>(shape.batch * shape.heads * shape.queries);
    dotBytes = scratch.bytes();
  }

  int64_t workspaceBytes() const override {
    int64_t lanes = std::max(dotLanes.count(), keyLanes.count());
    return dotBytes + laneBytes * (onePass ? lanes : std::max(lanes, queryLanes.count()));
  }

  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    forEachTileOf(dotLanes, arguments, threads, [&](int64_t tile, const LaneScratch &scratch) {
      computeDots(arguments, tile / shape.heads, tile % shape.heads, scratch);
    });
    forEachTileOf(keyLanes, arguments, threads, [&](int64_t tile, const LaneScratch &scratch) {
      if (onePass) {
        clearQueryGradient(arguments, tile / shape.groups, tile % shape.groups);
        for (int64_t block = 0; block < keyBlocks(shape); ++block)
          runKeyBlock(arguments, tile / shape.groups, tile % shape.groups, keyBlock(shape, block), scratch);
        return;
      }
      const int64_t blocks = keyBlocks(shape), group = tile / blocks % shape.groups;
      runKeyBlock(arguments, tile / blocks / shape.groups, group, keyBlock(shape, tile % blocks), scratch);
    });
    if (!onePass)
      forEachTileOf(queryLanes, arguments, threads, [&](int64_t tile, const LaneScratch &scratch) {
        const int64_t head = tile / tiles.count % shape.heads;
        runQueryTile(arguments, tile / tiles.count / shape.heads, head, tiles.span(shape, tile % tiles.count),
                     scratch);
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

  struct LaneScratch {
    T *weights, *gradients, *keyGradient, *valueGradient, *queryGradient, *logSumExp;
    T *outputGradient, *output, *query, *key, *value;
    T *keyTransposed, *valueTransposed, *keyPanels, *queryPanels, *gradientPanels;
    int64_t bytes;
    LaneScratch(const AttentionBackward &owner, void *base) {
      const AttentionShape &shape = owner.shape;
      const int64_t queries = owner.onePass ? kQueryBlock : owner.tiles.rows;
      Scratch scratch(base);
      weights = scratch.take<T>(kQueryBlock * kScoreStride);
      gradients = scratch.take<T>(kQueryBlock * kScoreStride);
      keyGradient = scratch.take<T>(kKeyBlock * shape.depth);
      valueGradient = scratch.take<T>(kKeyBlock * shape.width);
      queryGradient = scratch.take<T>(owner.onePass ? 0 : queries * shape.depth);
      logSumExp = scratch.take<T>(queries);
      outputGradient = scratch.take<T>(queries * shape.width);
      output = scratch.take<T>(bufferElements<T>(shape.output, kQueryBlock, shape.width));
      query = scratch.take<T>(queries * shape.depth);
      key = scratch.take<T>(bufferElements<T>(shape.key, kKeyBlock, shape.depth));
      value = scratch.take<T>(bufferElements<T>(shape.value, kKeyBlock, shape.width));
      keyTransposed = scratch.take<T>(panelElements(shape.depth, kKeyBlock));
      valueTransposed = scratch.take<T>(panelElements(shape.width, kKeyBlock));
      keyPanels = scratch.take<T>(panelElements(kKeyBlock, shape.depth));
      queryPanels = scratch.take<T>(panelElements(kQueryBlock, shape.depth));
      gradientPanels = scratch.take<T>(panelElements(kQueryBlock, shape.width));
      bytes = scratch.bytes();
    }
  };

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
    return std::max<int64_t>(last - first, 0) + kQueryBlock;
  }

  template <typename Body>
  void forEachTileOf(const Lanes &lanes, const KernelArguments &arguments, ThreadPool &threads,
                     const Body &body) const {
    threads.forEachTile(lanes.count(), [&](int64_t lane, int) {
      LaneScratch scratch(*this, static_cast<char *>(arguments.workspace) + dotBytes + lane * laneBytes);
      for (int64_t tile = lanes.first(lane); tile < lanes.first(lane + 1); ++tile)
        body(tile, scratch);
    });
  }

  /// D of one head of one batch row, at [batch, heads, queries] like lse.
  T *dots(const KernelArguments &arguments, int64_t batch, int64_t head) const {
    return static_cast<T *>(arguments.workspace) + (batch * shape.heads + head) * shape.queries;
  }

  BlockPlace queryPlace(int64_t batch, int64_t head, Span queries, int64_t size) const {
    return headPlace(batch, queries, shape.queries, head, shape.heads, size);
  }
  BlockPlace keyPlace(int64_t batch, int64_t group, Span keys, int64_t size) const {
    return headPlace(batch, keys, shape.keys, group, shape.groups, size);
  }

  void computeDots(const KernelArguments &arguments, int64_t batch, int64_t head,
                   const LaneScratch &scratch) const {
    const Span all = {0, shape.queries};
    for (int64_t block = 0; block < queryBlocks(all); ++block) {
      const Span queries = queryBlock(all, block);
      const BlockPlace place = queryPlace(batch, head, queries, shape.width);
      const Block<T> gradient =
          loadBlock(types.output, arguments.operands[kOutputGradient], place, scratch.outputGradient);
      const Block<T> output = loadBlock(shape.output, arguments.operands[kOutput], place, scratch.output);
      dotRows(gradient.data, gradient.stride, output.data, output.stride, queries.count, shape.width,
              dots(arguments, batch, head) + queries.first);
    }
  }

  void clearQueryGradient(const KernelArguments &arguments, int64_t batch, int64_t group) const {
    T *gradient = static_cast<T *>(arguments.results[kQueryGradient]);
    const int64_t columns = shape.headsPerGroup() * shape.depth;
    for (int64_t i = 0; i < shape.queries; ++i)
      std::fill_n(gradient + (batch * shape.queries + i) * shape.heads * shape.depth + group * columns,
                  columns, T(0));
  }

  /// Queries, gradients of outputs and statistics into scratch, rows of one head.
  void loadQueries(const KernelArguments &arguments, int64_t batch, int64_t head, Span queries,
                   const LaneScratch &scratch) const {
    copyBlock(shape.query, arguments.operands[kQuery], queryPlace(batch, head, queries, shape.depth),
              scratch.query);
    copyBlock(types.output, arguments.operands[kOutputGradient],
              queryPlace(batch, head, queries, shape.width), scratch.outputGradient);
    const int64_t row = (batch * shape.heads + head) * shape.queries + queries.first;
    for (int64_t r = 0; r < queries.count; ++r)
      scratch.logSumExp[r] = loadStatistic<T>(shape.statistics, arguments.operands[kLogSumExp], row + r);
  }
  void packKeys(const KernelArguments &arguments, int64_t batch, int64_t group, Span keys,
                const LaneScratch &scratch) const {
    const Block<T> k = loadBlock(shape.key, arguments.operands[kKey],
                                 keyPlace(batch, group, keys, shape.depth), scratch.key);
    packTransposedPanels(k.data, k.stride, shape.depth, keys.count, scratch.keyTransposed);
    packPanels(k.data, k.stride, keys.count, shape.depth, scratch.keyPanels);
    const Block<T> v = loadBlock(shape.value, arguments.operands[kValue],
                                 keyPlace(batch, group, keys, shape.width), scratch.value);
    packTransposedPanels(v.data, v.stride, shape.width, keys.count, scratch.valueTransposed);
  }

  /// Fills scratch.weights with P and scratch.gradients with the gradient of q k^T. The queries are rows
  /// `first` and on of those in scratch.
  void computeBlock(Span queries, Span keys, const VisibleColumns &visible, int64_t first, const T *dot,
                    const LaneScratch &scratch) const {
    ScoreBlock<T> block = computeScores(shape, queries, keys, visible, scratch.query + first * shape.depth,
                                        scratch.keyTransposed, scratch.weights);
    multiplyPanels(BlockProduct<T>{.rows = queries.count,
                                   .columns = keys.count,
                                   .depth = shape.width,
                                   .a = scratch.outputGradient + first * shape.width,
                                   .aStrides = {shape.width, 1},
                                   .panels = scratch.valueTransposed,
                                   .c = scratch.gradients,
                                   .cRow = kScoreStride,
                                   .neededColumns = visible.ranges()});
    block.rounds &= types.output == DType::BF16;
    scoreGradientRows(block, scratch.gradients, scratch.logSumExp + first, dot);
  }

  /// dk and dv of one block of keys, over the heads of its group; in one pass also adds to dq.
  void runKeyBlock(const KernelArguments &arguments, int64_t batch, int64_t group, Span keys,
                   const LaneScratch &scratch) const {
    const BatchRow row(shape, arguments, kOptional, batch);
    packKeys(arguments, batch, group, keys, scratch);
    std::fill_n(scratch.keyGradient, keys.count * shape.depth, T(0));
    std::fill_n(scratch.valueGradient, keys.count * shape.width, T(0));
    const Span all = {0, shape.queries};
    for (int64_t head = group * shape.headsPerGroup(); head < (group + 1) * shape.headsPerGroup(); ++head)
      for (int64_t b = 0; b < queryBlocks(all); ++b) {
        const Span queries = queryBlock(all, b);
        if (!blockIsVisible(shape, row, queries, keys))
          continue;
        const VisibleColumns visible(shape, row, queries, keys);
        if (!visible.any)
          continue;
        loadQueries(arguments, batch, head, queries, scratch);
        computeBlock(queries, keys, visible, 0, dots(arguments, batch, head) + queries.first, scratch);
        addKeyGradients(queries, keys, VisibleRows(visible, queries.count, keys.count), scratch);
        if (onePass) {
          const BlockPlace place = queryPlace(batch, head, queries, shape.depth);
          addQueryGradient(queries, keys, visible, scratch,
                           static_cast<T *>(arguments.results[kQueryGradient]) + place.offset, place.stride);
        }
      }
    storeBlock(scratch.keyGradient, shape.depth, types.key, arguments.results[kKeyGradient],
               keyPlace(batch, group, keys, shape.depth));
    storeBlock(scratch.valueGradient, shape.width, types.value, arguments.results[kValueGradient],
               keyPlace(batch, group, keys, shape.width));
  }

  void addKeyGradients(Span queries, Span keys, const VisibleRows &visible,
                       const LaneScratch &scratch) const {
    packPanels(scratch.outputGradient, shape.width, queries.count, shape.width, scratch.gradientPanels);
    packPanels(scratch.query, shape.depth, queries.count, shape.depth, scratch.queryPanels);
    BlockProduct<T> product = {.rows = keys.count,
                               .columns = shape.width,
                               .depth = queries.count,
                               .a = scratch.weights,
                               .aStrides = {1, kScoreStride},
                               .panels = scratch.gradientPanels,
                               .c = scratch.valueGradient,
                               .cRow = shape.width,
                               .accumulate = true,
                               .neededDepth = visible.ranges()};
    multiplyPanels(product);
    product.columns = product.cRow = shape.depth;
    product.a = scratch.gradients, product.panels = scratch.queryPanels, product.c = scratch.keyGradient;
    multiplyPanels(product);
  }

  void addQueryGradient(Span queries, Span keys, const VisibleColumns &visible, const LaneScratch &scratch,
                        T *gradient, int64_t stride) const {
    multiplyPanels(BlockProduct<T>{.rows = queries.count,
                                   .columns = shape.depth,
                                   .depth = keys.count,
                                   .a = scratch.gradients,
                                   .aStrides = {kScoreStride, 1},
                                   .panels = scratch.keyPanels,
                                   .c = gradient,
                                   .cRow = stride,
                                   .accumulate = true,
                                   .neededDepth = visible.ranges()});
  }

  /// dq of one tile of queries: the second pass.
  void runQueryTile(const KernelArguments &arguments, int64_t batch, int64_t head, Span tile,
                    const LaneScratch &scratch) const {
    const BatchRow row(shape, arguments, kOptional, batch);
    loadQueries(arguments, batch, head, tile, scratch);
    std::fill_n(scratch.queryGradient, tile.count * shape.depth, T(0));
    for (int64_t k = 0; k < keyBlocks(shape); ++k) {
      const Span keys = keyBlock(shape, k);
      if (!blockIsVisible(shape, row, tile, keys))
        continue;
      packKeys(arguments, batch, head / shape.headsPerGroup(), keys, scratch);
      for (int64_t b = 0; b < queryBlocks(tile); ++b) {
        const Span queries = queryBlock(tile, b);
        if (!blockIsVisible(shape, row, queries, keys))
          continue;
        const VisibleColumns visible(shape, row, queries, keys);
        if (!visible.any)
          continue;
        const int64_t first = queries.first - tile.first;
        computeBlock(queries, keys, visible, first, dots(arguments, batch, head) + queries.first, scratch);
        addQueryGradient(queries, keys, visible, scratch, scratch.queryGradient + first * shape.depth,
                         shape.depth);
      }
    }
    storeBlock(scratch.queryGradient, shape.depth, types.query, arguments.results[kQueryGradient],
               queryPlace(batch, head, tile, shape.depth));
  }

  AttentionShape shape;
  GradientTypes types;
  bool onePass;
  QueryTiles tiles;
  Lanes dotLanes, keyLanes, queryLanes;
  int64_t laneBytes, dotBytes;
};

} // namespace

KernelOrError createAttentionBackward(const KernelCall &call) {
  absl::StatusOr<AttentionShape> shape = AttentionShape::backward(call);
  if (!shape.ok())
    return shape.status();
  const GradientTypes types = {call.operands[kOutputGradient].dtype, call.results[kQueryGradient].dtype,
                               call.results[kKeyGradient].dtype, call.results[kValueGradient].dtype,
                               shape->hasSinks ? call.results[kSinkGradient].dtype : DType::F32};
  if (shape->wide)
    return std::make_unique<AttentionBackward<double>>(*shape, types);
  if (takesTiles(*shape) && types.output == DType::BF16)
    return createTileAttentionBackward(*shape, types);
  return std::make_unique<AttentionBackward<float>>(*shape, types);
}

} // namespace weft::cpu
