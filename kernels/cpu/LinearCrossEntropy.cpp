//===- LinearCrossEntropy.cpp - Cross-entropy of x w^T, block by block ----===//
//
// The four kernels are one walk over blocks of rows. Forward: each vocabulary tile's logits give a partial
// log-sum-exp, and the partials fold in order. Statistics: likewise, and the partial results of a part of the
// vocabulary are the results. Backward: the block's logits become their gradients in place, tile by tile; a
// tile owns its rows of dw and adds each block's share in order (in float32, in the result itself where that
// is float32); dx sums over the tiles in order. Forward and backward together compute the logits once. The
// products have the same shapes in all of them, so the bits agree; no rows x vocabulary array exists.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/AttentionBlocks.h"
#include "kernels/cpu/LinearCrossEntropyRows.h"
#include "kernels/cpu/LinearCrossEntropyShape.h"
#include "kernels/cpu/Registry.h"

#include <cmath>
#include <limits>

namespace weft::cpu {
namespace {

enum class Direction { Forward, Statistics, Backward, Both };

/// The tensors of a launch by name, wherever they are in the signature; null where it has none.
struct Tensors {
  const void *lossGradient = nullptr, *zLossGradient = nullptr, *x = nullptr, *w = nullptr;
  const int32_t *targets = nullptr;
  const void *lse = nullptr; ///< read by the gradients; in Both, what the forward half has just written
  void *loss = nullptr, *zLoss = nullptr, *lseResult = nullptr, *xGradient = nullptr, *wGradient = nullptr;
  void *targetLogit = nullptr, *logitSum = nullptr; ///< of the statistics
  int64_t words = 0;                                ///< rows of w that exist: the first, and often all

  Tensors(Direction direction, const LinearCrossEntropyShape &shape, const KernelArguments &arguments) {
    size_t operand = 0, result = 0;
    const bool gradients = direction == Direction::Backward || direction == Direction::Both;
    if (gradients) {
      lossGradient = arguments.operands[operand++];
      zLossGradient = arguments.operands[operand++];
    }
    x = arguments.operands[operand++];
    w = arguments.operands[operand++];
    targets = static_cast<const int32_t *>(arguments.operands[operand++]);
    if (direction == Direction::Statistics) {
      lseResult = arguments.results[result++];
      targetLogit = arguments.results[result++];
      logitSum = arguments.results[result];
    } else if (direction == Direction::Backward) {
      lse = arguments.operands[operand++];
    } else {
      loss = arguments.results[result++];
      zLoss = arguments.results[result++];
      lse = lseResult = arguments.results[result++];
    }
    words = shape.vocabulary;
    if (shape.hasValid)
      words = std::clamp(*static_cast<const int64_t *>(arguments.operands[operand]), int64_t{0}, words);
    if (gradients) {
      xGradient = arguments.results[result++];
      wGradient = arguments.results[result];
    }
  }
};

/// `T` is what sums and statistics are computed in, `Operand` what products take: T, or bfloat16. Where x
/// is bfloat16 the gradients of logits are rounded to it, whatever products take.
template <typename T, typename Operand = T> class LinearCrossEntropy final : public Kernel {
public:
  LinearCrossEntropy(Direction direction, const LinearCrossEntropyShape &shape)
      : direction(direction), shape(shape), tileLanes(shape.vocabularyTiles()),
        gradientLanes(rowParts() * columnParts()), sharedBytes(Shared(*this, nullptr).bytes),
        laneBytes(Lane(*this, nullptr).bytes) {}

  int64_t workspaceBytes() const override {
    int64_t lanes =
        writesGradients() ? std::max(tileLanes.count(), gradientLanes.count()) : tileLanes.count();
    return sharedBytes + lanes * laneBytes;
  }

  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    const Tensors tensors(direction, shape, arguments);
    const Shared shared(*this, arguments.workspace);
    for (int64_t first = 0; first < shape.rows; first += shape.rowBlock) {
      const Rows rows = {first, std::min(shape.rowBlock, shape.rows - first),
                         convertRows(tensors, first, shared, threads)};
      forEachTileOf(tileLanes, arguments, threads, [&](int64_t tile, const Lane &lane) {
        const LogitTile<T> logits = computeLogits(tensors, rows, tile, shared, lane);
        if (reducesRows())
          reduceTile(tensors, rows, tile, logits, shared);
        else
          differentiateTile(tensors, rows, tile, logits, shared);
      });
      if (reducesRows())
        threads.forEachTile(rowParts(), [&](int64_t part, int) { finishRows(tensors, rows, part, shared); });
      if (direction == Direction::Both)
        threads.forEachTile(shape.vocabularyTiles(), [&](int64_t tile, int) {
          differentiateTile(tensors, rows, tile,
                            logitTile(tensors, rows, tile, shared.logits + tileOffset(tile)), shared);
        });
      if (writesGradients())
        forEachTileOf(gradientLanes, arguments, threads, [&](int64_t tile, const Lane &lane) {
          sumInputGradient(tensors, rows, tile / columnParts(), tile % columnParts(), shared, lane);
        });
    }
  }

private:
  static constexpr int64_t kRowPart = 64;     ///< rows of one tile of dx, and of one tile of losses
  static constexpr int64_t kColumnPart = 512; ///< columns of one tile of dx

  bool reducesRows() const { return direction != Direction::Backward; }
  bool writesGradients() const { return direction == Direction::Backward || direction == Direction::Both; }
  bool sumsLogits() const { return direction == Direction::Statistics || shape.labelSmoothing > 0; }
  int64_t rowParts() const { return (shape.rowBlock + kRowPart - 1) / kRowPart; }
  int64_t columnParts() const { return (shape.hidden + kColumnPart - 1) / kColumnPart; }
  /// The logits of a block lie tile by tile, so that each product writes a dense matrix.
  int64_t tileOffset(int64_t tile) const { return tile * shape.rowBlock * shape.vocabularyTile; }

  /// Scratch of the whole launch.
  struct Shared {
    Operand *x;
    T *logits, *maximum, *sum, *total, *targetLogit, *xGradient, *wGradient;
    int64_t bytes;
    Shared(const LinearCrossEntropy &kernel, void *base) {
      const LinearCrossEntropyShape &shape = kernel.shape;
      const int64_t tiles = shape.vocabularyTiles(),
                    partials = kernel.reducesRows() ? tiles * shape.rowBlock : 0;
      Scratch scratch(base);
      x = scratch.take<Operand>(bufferElements<Operand>(shape.input, shape.rowBlock, shape.hidden));
      logits = scratch.take<T>(kernel.writesGradients() ? kernel.tileOffset(tiles) : 0);
      maximum = scratch.take<T>(partials);
      sum = scratch.take<T>(partials);
      total = scratch.take<T>(kernel.sumsLogits() ? partials : 0);
      targetLogit = scratch.take<T>(kernel.reducesRows() ? shape.rowBlock : 0);
      const bool gradients = kernel.writesGradients();
      xGradient = scratch.take<T>(
          gradients ? bufferElements<T>(shape.inputGradient, shape.rowBlock, shape.hidden) : 0);
      wGradient = scratch.take<T>(
          gradients ? bufferElements<T>(shape.weightGradient, shape.vocabulary, shape.hidden) : 0);
      bytes = scratch.bytes();
    }
  };

  struct Lane {
    Operand *w;
    T *logits;
    int64_t bytes;
    Lane(const LinearCrossEntropy &kernel, void *base) {
      const LinearCrossEntropyShape &shape = kernel.shape;
      Scratch scratch(base);
      w = scratch.take<Operand>(bufferElements<Operand>(shape.weight, shape.vocabularyTile, shape.hidden));
      logits = scratch.take<T>(kernel.writesGradients() ? 0 : shape.rowBlock * shape.vocabularyTile);
      bytes = scratch.bytes();
    }
  };

  template <typename Body>
  void forEachTileOf(const Lanes &lanes, const KernelArguments &arguments, ThreadPool &threads,
                     const Body &body) const {
    threads.forEachTile(lanes.count(), [&](int64_t index, int) {
      const Lane lane(*this, static_cast<char *>(arguments.workspace) + sharedBytes + index * laneBytes);
      for (int64_t tile = lanes.first(index); tile < lanes.first(index + 1); ++tile)
        body(tile, lane);
    });
  }

  /// The block of rows at hand, and its x as products take it.
  struct Rows {
    int64_t first;
    int64_t count;
    Block<Operand> x;
  };

  Block<Operand> convertRows(const Tensors &tensors, int64_t first, const Shared &shared,
                             ThreadPool &threads) const {
    const int64_t count = std::min(shape.rowBlock, shape.rows - first), h = shape.hidden;
    if (shape.input == kNativeType<Operand>)
      return loadBlock(shape.input, tensors.x, {first * h, count, h, h}, shared.x);
    threads.forEachTile(rowParts(), [&](int64_t part, int) {
      const int64_t begin = std::min(part * kRowPart, count), rows = std::min(kRowPart, count - begin);
      loadBlock(shape.input, tensors.x, {(first + begin) * h, rows, h, h}, shared.x + begin * h);
    });
    return {shared.x, h};
  }

  /// Words of the tile, and those of them that exist.
  int64_t widthOf(int64_t tile) const {
    return std::min(shape.vocabularyTile, shape.vocabulary - tile * shape.vocabularyTile);
  }
  int64_t columnsOf(const Tensors &tensors, int64_t tile) const {
    return std::clamp(tensors.words - tile * shape.vocabularyTile, int64_t{0}, shape.vocabularyTile);
  }
  LogitTile<T> logitTile(const Tensors &tensors, const Rows &rows, int64_t tile, T *logits) const {
    return {logits, shape.vocabularyTile, rows.count, columnsOf(tensors, tile)};
  }
  /// Rows of w from `tile`, columns [column, column + columns).
  Block<Operand> weightTile(const Tensors &tensors, int64_t tile, int64_t column, int64_t columns,
                            const Lane &lane) const {
    const int64_t offset = tile * shape.vocabularyTile * shape.hidden + column;
    return loadBlock(shape.weight, tensors.w, {offset, columnsOf(tensors, tile), columns, shape.hidden},
                     lane.w);
  }

  LogitTile<T> computeLogits(const Tensors &tensors, const Rows &rows, int64_t tile, const Shared &shared,
                             const Lane &lane) const {
    const LogitTile<T> logits =
        logitTile(tensors, rows, tile, writesGradients() ? shared.logits + tileOffset(tile) : lane.logits);
    if (logits.columns == 0)
      return logits;
    const Block<Operand> w = weightTile(tensors, tile, 0, shape.hidden, lane);
    multiplyBlocks(rows.count, logits.columns, shape.hidden, rows.x.data, {rows.x.stride, 1}, w.data,
                   {1, w.stride}, logits.logits, logits.stride, T(0));
    if (shape.softcap > 0)
      capLogits(logits, static_cast<T>(shape.softcap));
    return logits;
  }

  /// The column of `target` in the tile, or -1 where it is elsewhere or does not count.
  int64_t targetColumn(const Tensors &tensors, int64_t row, int64_t tile) const {
    const int32_t target = tensors.targets[row];
    const int64_t column = target - tile * shape.vocabularyTile;
    return shape.counts(target) && column >= 0 && column < columnsOf(tensors, tile) ? column : -1;
  }

  void reduceTile(const Tensors &tensors, const Rows &rows, int64_t tile, const LogitTile<T> &logits,
                  const Shared &shared) const {
    const int64_t partial = tile * shape.rowBlock;
    reduceLogits(logits, shared.maximum + partial, shared.sum + partial,
                 sumsLogits() ? shared.total + partial : nullptr);
    for (int64_t r = 0; r < rows.count; ++r)
      if (int64_t column = targetColumn(tensors, rows.first + r, tile); column >= 0)
        shared.targetLogit[r] = logits.logits[r * logits.stride + column];
  }

  /// What all tiles say of row `r` of the block, folded in ascending order of the vocabulary.
  struct Statistics {
    T lse, total;
  };
  Statistics foldTiles(int64_t r, const Shared &shared) const {
    constexpr T kNone = -std::numeric_limits<T>::infinity();
    const int64_t tiles = shape.vocabularyTiles();
    T maximum = kNone, sum = 0, total = 0;
    for (int64_t tile = 0; tile < tiles; ++tile)
      maximum = std::max(maximum, shared.maximum[tile * shape.rowBlock + r]);
    const T base = maximum == kNone ? T(0) : maximum; // of no word at all, log 0
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t partial = tile * shape.rowBlock + r;
      sum += shared.sum[partial] * std::exp(shared.maximum[partial] - base);
      if (sumsLogits())
        total += shared.total[partial];
    }
    return {base + std::log(sum), total};
  }

  /// Rows of `part`: losses, or the statistics that they would be made of.
  void finishRows(const Tensors &tensors, const Rows &rows, int64_t part, const Shared &shared) const {
    const int64_t end = std::min((part + 1) * kRowPart, rows.count);
    for (int64_t r = part * kRowPart; r < end; ++r) {
      const int64_t row = rows.first + r;
      const Statistics statistics = foldTiles(r, shared);
      storeStatistic(shape.statistics, tensors.lseResult, row, statistics.lse);
      if (direction == Direction::Statistics) {
        const int32_t target = tensors.targets[row];
        storeStatistic(shape.statistics, tensors.targetLogit, row,
                       target >= 0 && target < tensors.words ? shared.targetLogit[r] : T(0));
        storeStatistic(shape.statistics, tensors.logitSum, row, statistics.total);
      } else {
        finishLoss(tensors, row, statistics, shared.targetLogit[r]);
      }
    }
  }

  void finishLoss(const Tensors &tensors, int64_t row, const Statistics &statistics, T targetLogit) const {
    const T smoothing = static_cast<T>(shape.labelSmoothing), lse = statistics.lse;
    T loss = 0, zLoss = 0;
    if (shape.counts(tensors.targets[row])) {
      loss = lse - (1 - smoothing) * targetLogit;
      if (smoothing > 0)
        loss -= smoothing * (statistics.total / static_cast<T>(shape.vocabulary));
      zLoss = static_cast<T>(shape.zLoss) * lse * lse;
    }
    storeStatistic(shape.statistics, tensors.loss, row, loss);
    storeStatistic(shape.statistics, tensors.zLoss, row, zLoss);
  }

  /// The gradients of logits lie in the place of the logits, row by row.
  static constexpr int64_t kGradientsPerLogit = sizeof(T) / sizeof(Operand);
  static const Operand *logitGradients(const T *logits) { return reinterpret_cast<const Operand *>(logits); }

  /// Logits to their gradients in place, and their share of the tile's rows of dw.
  void differentiateTile(const Tensors &tensors, const Rows &rows, int64_t tile, const LogitTile<T> &logits,
                         const Shared &shared) const {
    const T cap = static_cast<T>(shape.softcap), smoothing = static_cast<T>(shape.labelSmoothing);
    for (int64_t r = 0; r < rows.count; ++r) {
      const int64_t row = rows.first + r, column = targetColumn(tensors, row, tile);
      const T lossGradient = loadStatistic<T>(shape.statistics, tensors.lossGradient, row);
      const T zLossGradient = loadStatistic<T>(shape.statistics, tensors.zLossGradient, row);
      const T lse = loadStatistic<T>(shape.statistics, tensors.lse, row);
      T *values = logits.logits + r * logits.stride;
      T slope = 1;
      if (column >= 0 && cap > 0)
        slope = 1 - values[column] / cap * (values[column] / cap);
      differentiateLogits(
          values, logits.columns, cap,
          {lse, lossGradient + zLossGradient * 2 * static_cast<T>(shape.zLoss) * lse,
           lossGradient * smoothing / static_cast<T>(shape.smoothedWords()),
           shape.isPart() ? lossGradient != 0 || zLossGradient != 0 : shape.counts(tensors.targets[row])});
      if (column >= 0)
        values[column] -= lossGradient * (1 - smoothing) * slope;
      if constexpr (std::is_same_v<Operand, BFloat16>)
        narrowGradients(values, logits.columns);
      else if constexpr (std::is_same_v<Operand, float>)
        if (shape.input == DType::BF16)
          roundGradients(values, logits.columns);
    }
    const bool inPlace = shape.weightGradient == kNativeType<T>;
    const int64_t offset = tile * shape.vocabularyTile * shape.hidden;
    T *gradient = (inPlace ? static_cast<T *>(tensors.wGradient) : shared.wGradient) + offset;
    const int64_t width = widthOf(tile);
    if (rows.first == 0) // rows of w that do not exist
      std::fill(gradient + logits.columns * shape.hidden, gradient + width * shape.hidden, T(0));
    if (logits.columns > 0)
      multiplyBlocks(logits.columns, shape.hidden, rows.count, logitGradients(logits.logits),
                     {1, kGradientsPerLogit * logits.stride}, rows.x.data, {rows.x.stride, 1}, gradient,
                     shape.hidden, rows.first == 0 ? T(0) : T(1));
    if (!inPlace && rows.first + rows.count == shape.rows)
      storeBlock(gradient, shape.hidden, shape.weightGradient, tensors.wGradient,
                 {offset, width, shape.hidden, shape.hidden});
  }

  /// dx of some rows of the block and some columns of x: the sum over the vocabulary's tiles, in order.
  void sumInputGradient(const Tensors &tensors, const Rows &rows, int64_t rowPart, int64_t columnPart,
                        const Shared &shared, const Lane &lane) const {
    const int64_t first = rowPart * kRowPart, column = columnPart * kColumnPart;
    if (first >= rows.count)
      return;
    const int64_t count = std::min(kRowPart, rows.count - first),
                  columns = std::min(kColumnPart, shape.hidden - column);
    const bool inPlace = shape.inputGradient == kNativeType<T>;
    const int64_t offset = (rows.first + first) * shape.hidden + column;
    T *gradient = inPlace ? static_cast<T *>(tensors.xGradient) + offset
                          : shared.xGradient + first * shape.hidden + column;
    if (tensors.words == 0)
      for (int64_t r = 0; r < count; ++r)
        std::fill_n(gradient + r * shape.hidden, columns, T(0));
    for (int64_t tile = 0; tile * shape.vocabularyTile < tensors.words; ++tile) {
      const Block<Operand> w = weightTile(tensors, tile, column, columns, lane);
      multiplyBlocks(count, columns, columnsOf(tensors, tile),
                     logitGradients(shared.logits + tileOffset(tile) + first * shape.vocabularyTile),
                     {kGradientsPerLogit * shape.vocabularyTile, 1}, w.data, {w.stride, 1}, gradient,
                     shape.hidden, tile == 0 ? T(0) : T(1));
    }
    if (!inPlace)
      storeBlock(gradient, shape.hidden, shape.inputGradient, tensors.xGradient,
                 {offset, count, columns, shape.hidden});
  }

  Direction direction;
  LinearCrossEntropyShape shape;
  Lanes tileLanes, gradientLanes;
  int64_t sharedBytes, laneBytes;
};

KernelOrError create(Direction direction, const absl::StatusOr<LinearCrossEntropyShape> &shape) {
  if (!shape.ok())
    return shape.status();
  if (shape->wide)
    return std::make_unique<LinearCrossEntropy<double>>(direction, *shape);
  if (shape->input == DType::BF16 && shape->weight == DType::BF16 && multipliesBFloat16())
    return std::make_unique<LinearCrossEntropy<float, BFloat16>>(direction, *shape);
  return std::make_unique<LinearCrossEntropy<float>>(direction, *shape);
}

} // namespace

KernelOrError createLinearCrossEntropy(const KernelCall &call) {
  return create(Direction::Forward, LinearCrossEntropyShape::forward(call));
}

KernelOrError createLinearCrossEntropyStatistics(const KernelCall &call) {
  return create(Direction::Statistics, LinearCrossEntropyShape::partial(call));
}

KernelOrError createLinearCrossEntropyBackward(const KernelCall &call) {
  return create(Direction::Backward, LinearCrossEntropyShape::backward(call));
}

KernelOrError createLinearCrossEntropyForwardBackward(const KernelCall &call) {
  return create(Direction::Both, LinearCrossEntropyShape::forwardBackward(call));
}

} // namespace weft::cpu
