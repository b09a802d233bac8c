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
#include "kernels/cpu/LinearCrossEntropyLaunch.h"
#include "kernels/cpu/LinearCrossEntropyTiles.h"
#include "kernels/cpu/Registry.h"
#include "kernels/cpu/TileProduct.h"

namespace weft::cpu {
namespace {

/// `T` is what sums and statistics are computed in, `Operand` what products take: T, or bfloat16. Where x
/// is bfloat16 the gradients of logits are rounded to it, whatever products take.
template <typename T, typename Operand = T> class LinearCrossEntropy final : public Kernel {
public:
  LinearCrossEntropy(LossDirection direction, const LinearCrossEntropyShape &shape)
      : direction(direction), shape(shape), tileLanes(shape.vocabularyTiles()),
        gradientLanes(rowParts() * columnParts()), sharedBytes(Shared(*this, nullptr).bytes),
        laneBytes(Lane(*this, nullptr).bytes) {}

  int64_t workspaceBytes() const override {
    int64_t lanes =
        writesGradients() ? std::max(tileLanes.count(), gradientLanes.count()) : tileLanes.count();
    return sharedBytes + lanes * laneBytes;
  }

  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    const LossTensors tensors(direction, shape, arguments);
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
      if (direction == LossDirection::Both)
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

  bool reducesRows() const { return cpu::reducesRows(direction); }
  bool writesGradients() const { return cpu::writesGradients(direction); }
  bool sumsLogits() const { return cpu::sumsLogits(direction, shape); }
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
      w = scratch.take<Operand>(
          shape.roundsWeight ? shape.vocabularyTile * shape.hidden
                             : bufferElements<Operand>(shape.weight, shape.vocabularyTile, shape.hidden));
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

  Block<Operand> convertRows(const LossTensors &tensors, int64_t first, const Shared &shared,
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
  int64_t columnsOf(const LossTensors &tensors, int64_t tile) const {
    return std::clamp(tensors.words - tile * shape.vocabularyTile, int64_t{0}, shape.vocabularyTile);
  }
  LogitTile<T> logitTile(const LossTensors &tensors, const Rows &rows, int64_t tile, T *logits) const {
    return {logits, shape.vocabularyTile, rows.count, columnsOf(tensors, tile)};
  }
  /// Rows of w from `tile`, columns [column, column + columns).
  Block<Operand> weightTile(const LossTensors &tensors, int64_t tile, int64_t column, int64_t columns,
                            const Lane &lane) const {
    const BlockPlace place = {tile * shape.vocabularyTile * shape.hidden + column, columnsOf(tensors, tile),
                              columns, shape.hidden};
    if (!shape.roundsWeight)
      return loadBlock(shape.weight, tensors.w, place, lane.w);
    if constexpr (!std::is_same_v<Operand, double>)
      roundBlock(static_cast<const float *>(tensors.w), place, lane.w);
    return {lane.w, columns};
  }

  LogitTile<T> computeLogits(const LossTensors &tensors, const Rows &rows, int64_t tile, const Shared &shared,
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

  int64_t targetColumn(const LossTensors &tensors, int64_t row, int64_t tile) const {
    return cpu::targetColumn(shape, tensors, row, tile * shape.vocabularyTile, columnsOf(tensors, tile));
  }

  void reduceTile(const LossTensors &tensors, const Rows &rows, int64_t tile, const LogitTile<T> &logits,
                  const Shared &shared) const {
    const int64_t partial = tile * shape.rowBlock;
    reduceLogits(logits, shared.maximum + partial, shared.sum + partial,
                 sumsLogits() ? shared.total + partial : nullptr);
    for (int64_t r = 0; r < rows.count; ++r)
      if (int64_t column = targetColumn(tensors, rows.first + r, tile); column >= 0)
        shared.targetLogit[r] = logits.logits[r * logits.stride + column];
  }

  /// Rows of `part`: losses, or the statistics that they would be made of.
  void finishRows(const LossTensors &tensors, const Rows &rows, int64_t part, const Shared &shared) const {
    const int64_t end = std::min((part + 1) * kRowPart, rows.count);
    for (int64_t r = part * kRowPart; r < end; ++r)
      finishRow(direction, shape, tensors, rows.first + r,
                foldTiles(shared.maximum + r, shared.sum + r, sumsLogits() ? shared.total + r : nullptr,
                          shape.vocabularyTiles(), shape.rowBlock),
                shared.targetLogit[r]);
  }

  /// The gradients of logits lie in the place of the logits, row by row.
  static constexpr int64_t kGradientsPerLogit = std::is_same_v<Operand, BFloat16> ? 2 : 1;
  static const Operand *logitGradients(const T *logits) { return reinterpret_cast<const Operand *>(logits); }

  /// Logits to their gradients in place, and their share of the tile's rows of dw.
  void differentiateTile(const LossTensors &tensors, const Rows &rows, int64_t tile,
                         const LogitTile<T> &logits, const Shared &shared) const {
    for (int64_t r = 0; r < rows.count; ++r) {
      const int64_t row = rows.first + r, column = targetColumn(tensors, row, tile);
      T *values = logits.logits + r * logits.stride;
      const T ofTarget = column >= 0 ? gradientOfTarget<T>(shape, tensors, row, values[column]) : T(0);
      differentiateLogits(values, logits.columns, static_cast<T>(shape.softcap),
                          gradientOfRow<T>(shape, tensors, row));
      if (column >= 0)
        values[column] += ofTarget;
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
  void sumInputGradient(const LossTensors &tensors, const Rows &rows, int64_t rowPart, int64_t columnPart,
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

  LossDirection direction;
  LinearCrossEntropyShape shape;
  Lanes tileLanes, gradientLanes;
  int64_t sharedBytes, laneBytes;
};

KernelOrError create(LossDirection direction, const absl::StatusOr<LinearCrossEntropyShape> &shape) {
  if (!shape.ok())
    return shape.status();
  if (shape->wide)
    return std::make_unique<LinearCrossEntropy<double>>(direction, *shape);
  const bool isBFloat16 = shape->multipliesBFloat16();
  if (isBFloat16 && multipliesByTiles())
    return createLinearCrossEntropyTiles(direction, *shape);
  if (isBFloat16 && multipliesBFloat16())
    return std::make_unique<LinearCrossEntropy<float, BFloat16>>(direction, *shape);
  return std::make_unique<LinearCrossEntropy<float>>(direction, *shape);
}

} // namespace

KernelOrError createLinearCrossEntropy(const KernelCall &call) {
  return create(LossDirection::Forward, LinearCrossEntropyShape::forward(call));
}

KernelOrError createLinearCrossEntropyStatistics(const KernelCall &call) {
  return create(LossDirection::Statistics, LinearCrossEntropyShape::partial(call));
}

KernelOrError createLinearCrossEntropyBackward(const KernelCall &call) {
  return create(LossDirection::Backward, LinearCrossEntropyShape::backward(call));
}

KernelOrError createLinearCrossEntropyForwardBackward(const KernelCall &call) {
  return create(LossDirection::Both, LinearCrossEntropyShape::forwardBackward(call));
}

} // namespace weft::cpu
