//===- AttentionBackward.cpp - Blocked attention, gradients ---------------===//
//
// The weights of a block are recomputed from the stored log-sum-exp (arXiv:2307.08691): with P = exp(S -
// lse), D = rowsum(do * o), dP = do v^T and dS = P (dP - D), the gradients are dv = P^T do, dk = dS^T q, dq =
// dS k. A tile owns what it sums into, and sums over heads, query blocks and key blocks in ascending order.
// Where there are enough key groups to keep threads busy, one tile does a whole group in one pass; else key
// blocks are tiles of their own, and dq takes a second pass. Which of the two, is a function of the call
// alone.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/AttentionScores.h"
#include "kernels/cpu/Registry.h"

#include <cmath>

namespace weft::cpu {
namespace {

/// Operands: do, q, k, v, o, lse, then segments, positions and sinks where the call has them.
enum Operand : size_t { kOutputGradient, kQuery, kKey, kValue, kOutput, kLogSumExp, kOptional };
enum Result : size_t { kQueryGradient, kKeyGradient, kValueGradient, kSinkGradient };

struct GradientTypes {
  DType output, query, key, value, sinks;
};

template <typename T> class AttentionBackward final : public Kernel {
public:
  AttentionBackward(const AttentionShape &shape, const GradientTypes &types)
      : shape(shape), types(types),
        onePass(shape.batch * shape.groups >= kOnePassTiles && types.query == kNativeType<T>),
        dotLanes(shape.batch * shape.heads),
        keyLanes(shape.batch * shape.groups * (onePass ? 1 : keyBlocks(shape))),
        queryLanes(shape.batch * shape.heads * queryBlocks(shape)),
        laneBytes(LaneScratch(shape, types, nullptr).bytes) {
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
        const int64_t blocks = queryBlocks(shape), head = tile / blocks % shape.heads;
        runQueryBlock(arguments, tile / blocks / shape.heads, head, queryBlock(shape, tile % blocks),
                      scratch);
      });
    if (shape.hasSinks)
      threads.forEachTile(shape.heads, [&](int64_t head, int) { sumSinkGradient(arguments, head); });
  }

private:
  /// From this many groups on, a tile per group keeps the threads of a rank busy.
  static constexpr int64_t kOnePassTiles = 16;

  struct LaneScratch {
    T *weights, *gradients, *keyGradient, *valueGradient, *queryGradient, *logSumExp;
    T *outputGradient, *output, *query, *key, *value;
    int64_t bytes;
    LaneScratch(const AttentionShape &shape, const GradientTypes &types, void *base) {
      Scratch scratch(base);
      weights = scratch.take<T>(kQueryBlock * kKeyBlock);
      gradients = scratch.take<T>(kQueryBlock * kKeyBlock);
      keyGradient = scratch.take<T>(kKeyBlock * shape.depth);
      valueGradient = scratch.take<T>(kKeyBlock * shape.width);
      queryGradient = scratch.take<T>(kQueryBlock * shape.depth);
      logSumExp = scratch.take<T>(kQueryBlock);
      outputGradient = scratch.take<T>(bufferElements<T>(types.output, kQueryBlock, shape.width));
      output = scratch.take<T>(bufferElements<T>(shape.output, kQueryBlock, shape.width));
      query = scratch.take<T>(bufferElements<T>(shape.query, kQueryBlock, shape.depth));
      key = scratch.take<T>(bufferElements<T>(shape.key, kKeyBlock, shape.depth));
      value = scratch.take<T>(bufferElements<T>(shape.value, kKeyBlock, shape.width));
      bytes = scratch.bytes();
    }
  };

  template <typename Body>
  void forEachTileOf(const Lanes &lanes, const KernelArguments &arguments, ThreadPool &threads,
                     const Body &body) const {
    threads.forEachTile(lanes.count(), [&](int64_t lane, int) {
      LaneScratch scratch(shape, types,
                          static_cast<char *>(arguments.workspace) + dotBytes + lane * laneBytes);
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
    for (int64_t block = 0; block < queryBlocks(shape); ++block) {
      const Span queries = queryBlock(shape, block);
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

  /// The operands of one block of scores, in the compute type.
  struct Operands {
    Block<T> outputGradient, query, key, value;
  };
  void loadQueries(const KernelArguments &arguments, int64_t batch, int64_t head, Span queries,
                   const LaneScratch &scratch, Operands &operands) const {
    operands.query = loadBlock(shape.query, arguments.operands[kQuery],
                               queryPlace(batch, head, queries, shape.depth), scratch.query);
    operands.outputGradient =
        loadBlock(types.output, arguments.operands[kOutputGradient],
                  queryPlace(batch, head, queries, shape.width), scratch.outputGradient);
    const int64_t row = (batch * shape.heads + head) * shape.queries + queries.first;
    for (int64_t r = 0; r < queries.count; ++r)
      scratch.logSumExp[r] = loadStatistic<T>(shape.statistics, arguments.operands[kLogSumExp], row + r);
  }
  void loadKeys(const KernelArguments &arguments, int64_t batch, int64_t group, Span keys,
                const LaneScratch &scratch, Operands &operands) const {
    operands.key = loadBlock(shape.key, arguments.operands[kKey], keyPlace(batch, group, keys, shape.depth),
                             scratch.key);
    operands.value = loadBlock(shape.value, arguments.operands[kValue],
                               keyPlace(batch, group, keys, shape.width), scratch.value);
  }

  /// Fills scratch.weights with P and scratch.gradients with the gradient of q k^T.
  void computeBlock(const BatchRow &row, Span queries, Span keys, const Operands &operands, const T *dot,
                    const LaneScratch &scratch) const {
    const VisibleColumns visible(shape, row, queries, keys);
    const ScoreBlock<T> block =
        computeScores(shape, row, queries, keys, visible, operands.query, operands.key, scratch.weights);
    multiplyBlocks(queries.count, keys.count, shape.width, operands.outputGradient.data,
                   {operands.outputGradient.stride, 1}, operands.value.data, {1, operands.value.stride},
                   scratch.gradients, kKeyBlock, T(0));
    scoreGradientRows(block, scratch.gradients, scratch.logSumExp, dot);
  }

  /// dk and dv of one block of keys, over the heads of its group; in one pass also adds to dq.
  void runKeyBlock(const KernelArguments &arguments, int64_t batch, int64_t group, Span keys,
                   const LaneScratch &scratch) const {
    const BatchRow row(shape, arguments, kOptional, batch);
    Operands operands;
    loadKeys(arguments, batch, group, keys, scratch, operands);
    std::fill_n(scratch.keyGradient, keys.count * shape.depth, T(0));
    std::fill_n(scratch.valueGradient, keys.count * shape.width, T(0));
    for (int64_t head = group * shape.headsPerGroup(); head < (group + 1) * shape.headsPerGroup(); ++head)
      for (int64_t b = 0; b < queryBlocks(shape); ++b) {
        const Span queries = queryBlock(shape, b);
        if (!blockIsVisible(shape, row, queries, keys))
          continue;
        loadQueries(arguments, batch, head, queries, scratch, operands);
        computeBlock(row, queries, keys, operands, dots(arguments, batch, head) + queries.first, scratch);
        multiplyBlocks(keys.count, shape.width, queries.count, scratch.weights, {1, kKeyBlock},
                       operands.outputGradient.data, {operands.outputGradient.stride, 1},
                       scratch.valueGradient, shape.width, T(1));
        multiplyBlocks(keys.count, shape.depth, queries.count, scratch.gradients, {1, kKeyBlock},
                       operands.query.data, {operands.query.stride, 1}, scratch.keyGradient, shape.depth,
                       T(1));
        if (onePass) {
          const BlockPlace place = queryPlace(batch, head, queries, shape.depth);
          addQueryGradient(queries, keys, operands.key, scratch,
                           static_cast<T *>(arguments.results[kQueryGradient]) + place.offset, place.stride);
        }
      }
    storeBlock(scratch.keyGradient, shape.depth, types.key, arguments.results[kKeyGradient],
               keyPlace(batch, group, keys, shape.depth));
    storeBlock(scratch.valueGradient, shape.width, types.value, arguments.results[kValueGradient],
               keyPlace(batch, group, keys, shape.width));
  }

  void addQueryGradient(Span queries, Span keys, Block<T> key, const LaneScratch &scratch, T *gradient,
                        int64_t stride) const {
    multiplyBlocks(queries.count, shape.depth, keys.count, scratch.gradients, {kKeyBlock, 1}, key.data,
                   {key.stride, 1}, gradient, stride, T(1));
  }

  /// dq of one block of queries: the second pass.
  void runQueryBlock(const KernelArguments &arguments, int64_t batch, int64_t head, Span queries,
                     const LaneScratch &scratch) const {
    const BatchRow row(shape, arguments, kOptional, batch);
    Operands operands;
    loadQueries(arguments, batch, head, queries, scratch, operands);
    std::fill_n(scratch.queryGradient, queries.count * shape.depth, T(0));
    for (int64_t b = 0; b < keyBlocks(shape); ++b) {
      const Span keys = keyBlock(shape, b);
      if (!blockIsVisible(shape, row, queries, keys))
        continue;
      loadKeys(arguments, batch, head / shape.headsPerGroup(), keys, scratch, operands);
      computeBlock(row, queries, keys, operands, dots(arguments, batch, head) + queries.first, scratch);
      addQueryGradient(queries, keys, operands.key, scratch, scratch.queryGradient, shape.depth);
    }
    storeBlock(scratch.queryGradient, shape.depth, types.query, arguments.results[kQueryGradient],
               queryPlace(batch, head, queries, shape.depth));
  }

  /// The sink's weight exp(sink - lse) takes from the others: its gradient is -weight * D, summed over all
  /// rows.
  void sumSinkGradient(const KernelArguments &arguments, int64_t head) const {
    const double sink =
        loadStatistic<double>(shape.sinks, arguments.operands[shape.sinksOperand(kOptional)], head);
    double gradient = 0;
    for (int64_t batch = 0; batch < shape.batch; ++batch) {
      const T *dot = dots(arguments, batch, head);
      for (int64_t i = 0; i < shape.queries; ++i) {
        const double lse = loadStatistic<double>(shape.statistics, arguments.operands[kLogSumExp],
                                                 (batch * shape.heads + head) * shape.queries + i);
        if (lse != -std::numeric_limits<double>::infinity())
          gradient -= std::exp(sink - lse) * dot[i];
      }
    }
    storeStatistic(types.sinks, arguments.results[kSinkGradient], head, gradient);
  }

  AttentionShape shape;
  GradientTypes types;
  bool onePass;
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
  return std::make_unique<AttentionBackward<float>>(*shape, types);
}

} // namespace weft::cpu
