//===- Attention.cpp - Blocked attention, forward -------------------------===//
//
// A tile is one block of queries of one head. It walks the key blocks that it sees, in order, with the online
// softmax (arXiv:2205.14135): weights relative to the running maximum, output rescaled when that maximum
// grows, divided by the sum at the end. Scratch per lane is one block of scores and one of output; no queries
// x keys array exists.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/AttentionScores.h"
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
      : shape(shape), lanes(shape.batch * shape.heads * queryBlocks(shape)),
        laneBytes(LaneScratch(shape, nullptr).bytes) {}

  int64_t workspaceBytes() const override { return lanes.count() * laneBytes; }

  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    threads.forEachTile(lanes.count(), [&](int64_t lane, int) {
      LaneScratch scratch(shape, static_cast<char *>(arguments.workspace) + lane * laneBytes);
      for (int64_t tile = lanes.first(lane); tile < lanes.first(lane + 1); ++tile)
        runTile(arguments, tile, scratch);
    });
  }

private:
  struct LaneScratch {
    T *scores, *output, *maximum, *sum, *query, *key, *value;
    int64_t bytes;
    LaneScratch(const AttentionShape &shape, void *base) {
      Scratch scratch(base);
      scores = scratch.take<T>(kQueryBlock * kKeyBlock);
      output = scratch.take<T>(kQueryBlock * shape.width);
      maximum = scratch.take<T>(kQueryBlock);
      sum = scratch.take<T>(kQueryBlock);
      query = scratch.take<T>(bufferElements<T>(shape.query, kQueryBlock, shape.depth));
      key = scratch.take<T>(bufferElements<T>(shape.key, kKeyBlock, shape.depth));
      value = scratch.take<T>(bufferElements<T>(shape.value, kKeyBlock, shape.width));
      bytes = scratch.bytes();
    }
  };

  void runTile(const KernelArguments &arguments, int64_t tile, const LaneScratch &scratch) const {
    const int64_t blocks = queryBlocks(shape), head = tile / blocks % shape.heads;
    const int64_t batch = tile / blocks / shape.heads, group = head / shape.headsPerGroup();
    const Span queries = queryBlock(shape, tile % blocks);
    const BatchRow row(shape, arguments, kOptional, batch);
    const Block<T> q =
        loadBlock(shape.query, arguments.operands[0],
                  headPlace(batch, queries, shape.queries, head, shape.heads, shape.depth), scratch.query);
    bool first = true;
    for (int64_t b = 0; b < keyBlocks(shape); ++b) {
      const Span keys = keyBlock(shape, b);
      if (!blockIsVisible(shape, row, queries, keys))
        continue;
      const Block<T> k =
          loadBlock(shape.key, arguments.operands[1],
                    headPlace(batch, keys, shape.keys, group, shape.groups, shape.depth), scratch.key);
      const Block<T> v =
          loadBlock(shape.value, arguments.operands[2],
                    headPlace(batch, keys, shape.keys, group, shape.groups, shape.width), scratch.value);
      const VisibleColumns visible(shape, row, queries, keys);
      const ScoreBlock<T> scores = computeScores(shape, row, queries, keys, visible, q, k, scratch.scores);
      softmaxRows(scores, scratch.maximum, scratch.sum, scratch.output, shape.width, first);
      multiplyBlocks(queries.count, shape.width, keys.count, scratch.scores, {kKeyBlock, 1}, v.data,
                     {v.stride, 1}, scratch.output, shape.width, first ? T(0) : T(1));
      first = false;
    }
    if (first) {
      std::fill_n(scratch.maximum, queries.count, -std::numeric_limits<T>::infinity());
      std::fill_n(scratch.output, queries.count * shape.width, T(0));
    }
    finishTile(arguments, batch, head, queries, scratch);
  }

  /// Divides by the sums (and the sink's share), stores output and log-sum-exp.
  void finishTile(const KernelArguments &arguments, int64_t batch, int64_t head, Span queries,
                  const LaneScratch &scratch) const {
    constexpr T kNone = -std::numeric_limits<T>::infinity();
    for (int64_t r = 0; r < queries.count; ++r) {
      T *out = scratch.output + r * shape.width;
      const int64_t statistic = (batch * shape.heads + head) * shape.queries + queries.first + r;
      T maximum = scratch.maximum[r], sum = scratch.sum[r], factor = 1;
      if (shape.hasSinks) {
        const T sink = loadStatistic<T>(shape.sinks, arguments.operands[shape.sinksOperand(kOptional)], head);
        const T most = std::max(maximum, sink);
        factor = maximum == kNone ? T(0) : std::exp(maximum - most);
        sum = (maximum == kNone ? T(0) : sum * factor) + std::exp(sink - most);
        maximum = most;
      }
      // A row that sees nothing, not even a sink. (One that sees only its sink has factor 0.)
      if (maximum == kNone) {
        std::fill_n(out, shape.width, T(0));
        storeStatistic(shape.statistics, arguments.results[1], statistic, maximum);
        continue;
      }
      for (int64_t i = 0; i < shape.width; ++i)
        out[i] = out[i] * factor / sum;
      storeStatistic(shape.statistics, arguments.results[1], statistic, maximum + std::log(sum));
    }
    storeBlock(scratch.output, shape.width, shape.output, arguments.results[0],
               headPlace(batch, queries, shape.queries, head, shape.heads, shape.width));
  }

  AttentionShape shape;
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
  return std::make_unique<AttentionForward<float>>(*shape);
}

} // namespace weft::cpu
