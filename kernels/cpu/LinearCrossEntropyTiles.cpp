//===- LinearCrossEntropyTiles.cpp - Cross-entropy of x w^T by tile registers ===//
//
// Two walks over a block of rows of x: one for the log-sum-exp, one for the gradients, which computes the
// logits again. Products by tiles are so quick that this costs less than writing and reading rows x
// vocabulary logits, and dw is written once for a thousand rows. Each walk takes the vocabulary in groups: w
// is packed for all rows of the block at once, then (rows x words) units are multiplied, each with the
// arithmetic of its logits while they are in the cache.
//
// Logits lie transposed, w x^T: w is then a left matrix as it lies, and what the gradients are needed as, the
// left matrix of dw and the right one of dx^T, are vectors of them side by side. dw's rows and dx^T's parts
// belong to one unit each, and add what groups and blocks of rows give them in order: no bit depends on who
// takes a unit. Padding is 0 in every packed matrix.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/LinearCrossEntropyTiles.h"

#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/LinearCrossEntropyTileRows.h"
#include "kernels/cpu/TileProduct.h"

namespace weft::cpu {
namespace {

constexpr int64_t kMostRows = 1024;                 ///< of a block
constexpr int64_t kUnitWords = 256, kUnitRows = 64; ///< of a unit of logits: 64 KiB of sums on the stack
constexpr int64_t kOuter = 128, kInner = 128;       ///< a unit of dw: words, columns; of dx^T: columns, rows
constexpr int64_t kGroupBytes = 4 << 20;            ///< of what is packed for a group of words
constexpr int64_t kDepthTiles = 16; ///< a pair of strips this deep stays in the first-level cache

constexpr int64_t partsOf(int64_t size, int64_t part) { return (size + part - 1) / part; }

/// A product whose right strips are read from the first-level cache, piece by piece of the depth.
void multiplyDeep(TileProduct product) {
  const int64_t depth = product.depth;
  for (int64_t first = 0; first < depth; first += kDepthTiles) {
    product.depth = std::min(kDepthTiles, depth - first);
    multiplyTiles(product);
    product.a += product.depth * kTileElements;
    product.b += product.depth * kTileElements;
    product.accumulate = true;
  }
}

class LinearCrossEntropyTiles final : public Kernel {
public:
  LinearCrossEntropyTiles(LossDirection direction, const LinearCrossEntropyShape &shape)
      : direction(direction), shape(shape), rowBlock(std::min(shape.rows, kMostRows)),
        paddedRows(tilePadded(rowBlock)), paddedHidden(tilePadded(shape.hidden)),
        hiddenTiles(tileCount(shape.hidden)), tiles(partsOf(shape.vocabulary, kUnitWords)) {
    const int64_t ofWord =
        2 * (writesGradients(direction) ? 2 * paddedHidden + 2 * paddedRows : paddedHidden);
    groupTiles = std::clamp<int64_t>(kGroupBytes / ofWord / kUnitWords, 1, tiles);
    workspace = Scratches(*this, nullptr).bytes;
  }

  int64_t workspaceBytes() const override { return workspace; }

  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    const Launch launch{LossTensors(direction, shape, arguments), Scratches(*this, arguments.workspace),
                        threads};
    for (int64_t first = 0; first < shape.rows; first += rowBlock) {
      const Rows rows = {first, std::min(rowBlock, shape.rows - first)};
      packRows(launch, rows);
      if (reducesRows(direction))
        reduce(launch, rows);
      if (writesGradients(direction))
        differentiate(launch, rows);
    }
  }

private:
  struct Scratches {
    BFloat16 *xColumns;       ///< x^T, right: the logits' rows are its columns
    BFloat16 *xDepth;         ///< x, right: the rows are the depth
    BFloat16 *wRounded;       ///< words of a group as they lie, where w is float32
    BFloat16 *w;              ///< words of a group, left
    BFloat16 *wDepth;         ///< w^T, left: the words of a group are the depth
    BFloat16 *gradientsLeft;  ///< words of a group x rows
    BFloat16 *gradientsRight; ///< words of a group, the depth, x rows
    float *xGradient;         ///< dx^T of the block, strips of rows one behind the other
    float *wGradient;         ///< dw, where several blocks add to it and the result cannot hold the sums
    float *maximum, *sum, *total,
        *targetLogit; ///< by tile of the vocabulary and row of the block; no total where none is asked for
    int64_t bytes;

    Scratches(const LinearCrossEntropyTiles &kernel, void *base) {
      const LinearCrossEntropyShape &shape = kernel.shape;
      const bool gradients = writesGradients(kernel.direction), reduces = reducesRows(kernel.direction);
      const int64_t words = kernel.groupTiles * kUnitWords, x = kernel.paddedHidden * kernel.paddedRows;
      const int64_t partials = reduces ? kernel.tiles * kernel.paddedRows : 0;
      Scratch scratch(base);
      xColumns = scratch.take<BFloat16>(x);
      xDepth = scratch.take<BFloat16>(gradients ? x : 0);
      wRounded = scratch.take<BFloat16>(shape.roundsWeight ? words * shape.hidden : 0);
      w = scratch.take<BFloat16>(words * kernel.paddedHidden);
      wDepth = scratch.take<BFloat16>(gradients ? words * kernel.paddedHidden : 0);
      gradientsLeft = scratch.take<BFloat16>(gradients ? words * kernel.paddedRows : 0);
      gradientsRight = scratch.take<BFloat16>(gradients ? words * kernel.paddedRows : 0);
      xGradient = scratch.take<float>(gradients ? x : 0);
      wGradient = scratch.take<float>(kernel.keepsWeightGradient() ? shape.vocabulary * shape.hidden : 0);
      maximum = scratch.take<float>(partials);
      sum = scratch.take<float>(partials);
      total = sumsLogits(kernel.direction, shape) ? scratch.take<float>(partials) : nullptr;
      targetLogit = scratch.take<float>(reduces ? kernel.paddedRows : 0);
      bytes = scratch.bytes();
    }
  };

  struct Launch {
    LossTensors tensors;
    Scratches scratch;
    ThreadPool &threads;
  };

  /// A block of rows of x.
  struct Rows {
    int64_t first, count;
    int64_t units() const { return partsOf(count, kUnitRows); }
  };

  /// Words that are worked on together: whole units of the vocabulary, or its end.
  struct Group {
    int64_t firstTile, tiles;
    int64_t firstWord, words; ///< of those that w has
  };

  bool keepsWeightGradient() const {
    return writesGradients(direction) && shape.weightGradient != DType::F32 && shape.rows > rowBlock;
  }

  template <typename Body> void forEachGroup(const Launch &launch, const Body &body) const {
    for (int64_t tile = 0; tile < tiles; tile += groupTiles) {
      const int64_t firstWord = tile * kUnitWords, count = std::min(groupTiles, tiles - tile);
      body(Group{tile, count, firstWord,
                 std::clamp(launch.tensors.words - firstWord, int64_t{0}, count * kUnitWords)});
    }
  }

  const BFloat16 *rowsOfX(const Launch &launch, int64_t row) const {
    return static_cast<const BFloat16 *>(launch.tensors.x) + row * shape.hidden;
  }
  /// From a word of the group on.
  const BFloat16 *rowsOfW(const Launch &launch, const Group &group, int64_t word) const {
    return shape.roundsWeight
               ? launch.scratch.wRounded + word * shape.hidden
               : static_cast<const BFloat16 *>(launch.tensors.w) + (group.firstWord + word) * shape.hidden;
  }

  void packRows(const Launch &launch, const Rows &rows) const {
    const int64_t columnParts = writesGradients(direction) ? hiddenTiles : 0,
                  rowParts = tileCount(rows.count);
    launch.threads.forEachTile(rowParts + columnParts, [&](int64_t part, int) {
      if (part < rowParts) { // a pair of strips of rows
        const int64_t row = part * kTileDepth;
        packRightTransposed({rowsOfX(launch, rows.first + row), shape.hidden,
                             std::min(kTileDepth, rows.count - row), shape.hidden},
                            launch.scratch.xColumns + row * paddedHidden);
      } else { // a pair of strips of columns
        const int64_t column = (part - rowParts) * kTileDepth;
        packRight({rowsOfX(launch, rows.first) + column, shape.hidden, rows.count,
                   std::min(kTileDepth, shape.hidden - column)},
                  launch.scratch.xDepth + column * tilePadded(rows.count));
      }
    });
  }

  void roundWords(const Launch &launch, const Group &group) const {
    launch.threads.forEachTile(tileCount(group.words), [&](int64_t part, int) {
      const int64_t word = part * kTileDepth;
      roundBlock(static_cast<const float *>(launch.tensors.w),
                 {(group.firstWord + word) * shape.hidden, std::min(kTileDepth, group.words - word),
                  shape.hidden, shape.hidden},
                 launch.scratch.wRounded + word * shape.hidden);
    });
  }

  void packWords(const Launch &launch, const Group &group, bool alsoAsDepth) const {
    if (shape.roundsWeight)
      roundWords(launch, group);
    const int64_t wordParts = tileCount(group.words), columnParts = alsoAsDepth ? hiddenTiles : 0;
    launch.threads.forEachTile(wordParts + columnParts, [&](int64_t part, int) {
      if (part < wordParts) {
        const int64_t word = part * kTileDepth;
        packLeft({rowsOfW(launch, group, word), shape.hidden, std::min(kTileDepth, group.words - word),
                  shape.hidden},
                 launch.scratch.w + word * paddedHidden);
      } else {
        const int64_t column = (part - wordParts) * kTileDepth;
        packLeftTransposed({rowsOfW(launch, group, 0) + column, shape.hidden, group.words,
                            std::min(kTileDepth, shape.hidden - column)},
                           launch.scratch.wDepth + column * tilePadded(group.words));
      }
    });
  }

  /// Logits of kUnitWords words (or `words`, which there are) and kUnitRows rows: strips of rows one behind
  /// the other.
  struct Logits {
    static constexpr int64_t kStripSums = kUnitWords * kStrip;
    alignas(64) float values[kUnitRows / kStrip * kStripSums];
    int64_t firstWord, words;
    int64_t firstRow, rows; ///< of the block
    int64_t strips() const { return tileCount(rows) * 2; }
    float *strip(int64_t index) { return values + index * kStripSums; }
    float &at(int64_t row, int64_t word) { return strip(row / kStrip)[word * kStrip + row % kStrip]; }
  };

  /// False where w has no word of the unit.
  bool computeLogits(const Launch &launch, const Rows &rows, const Group &group, int64_t unit,
                     Logits &logits) const {
    const int64_t word = unit / rows.units() * kUnitWords;
    logits.firstWord = group.firstWord + word;
    logits.words = std::clamp(group.words - word, int64_t{0}, kUnitWords);
    logits.firstRow = unit % rows.units() * kUnitRows;
    logits.rows = std::min(kUnitRows, rows.count - logits.firstRow);
    if (logits.words == 0)
      return false;
    const int64_t strip = hiddenTiles * kTileElements;
    const TilesInUse tilesInUse;
    multiplyDeep({.rowPairs = tileCount(logits.words),
                  .columnPairs = tileCount(logits.rows),
                  .depth = hiddenTiles,
                  .a = launch.scratch.w + word * paddedHidden,
                  .aStrip = strip,
                  .b = launch.scratch.xColumns + logits.firstRow * paddedHidden,
                  .bStrip = strip,
                  .c = logits.values,
                  .cBelow = kTileSums,
                  .cBeside = Logits::kStripSums,
                  .accumulate = false});
    if (shape.softcap > 0)
      for (int64_t i = 0; i < logits.strips(); ++i) {
        const int64_t count = logits.words * kStrip;
        capLogits({logits.strip(i), count, 1, count}, static_cast<float>(shape.softcap));
      }
    return true;
  }

  void reduce(const Launch &launch, const Rows &rows) const {
    const Scratches &scratch = launch.scratch;
    forEachGroup(launch, [&](const Group &group) {
      packWords(launch, group, false);
      launch.threads.forEachTile(group.tiles * rows.units(), [&](int64_t unit, int) {
        Logits logits;
        const bool some = computeLogits(launch, rows, group, unit, logits);
        const int64_t at = (group.firstTile + unit / rows.units()) * paddedRows + logits.firstRow;
        float *total = scratch.total ? scratch.total + at : nullptr;
        if (!some)
          return clearPartials(scratch.maximum + at, scratch.sum + at, total, logits.strips() * kStrip);
        for (int64_t i = 0; i < logits.strips(); ++i)
          reduceStrip(logits.strip(i), logits.words, scratch.maximum + at + i * kStrip,
                      scratch.sum + at + i * kStrip, total ? total + i * kStrip : nullptr);
        for (int64_t r = 0; r < logits.rows; ++r)
          if (int64_t word = targetOf(launch, rows, logits, r); word >= 0)
            scratch.targetLogit[logits.firstRow + r] = logits.at(r, word);
      });
    });
    launch.threads.forEachTile(rows.units(), [&](int64_t unit, int) {
      const int64_t end = std::min((unit + 1) * kUnitRows, rows.count);
      for (int64_t r = unit * kUnitRows; r < end; ++r)
        finishRow(direction, shape, launch.tensors, rows.first + r,
                  foldTiles(scratch.maximum + r, scratch.sum + r, scratch.total ? scratch.total + r : nullptr,
                            tiles, paddedRows),
                  scratch.targetLogit[r]);
    });
  }

  static void clearPartials(float *maximum, float *sum, float *total, int64_t count) {
    std::fill_n(maximum, count, -std::numeric_limits<float>::infinity());
    std::fill_n(sum, count, 0.0f);
    if (total)
      std::fill_n(total, count, 0.0f);
  }

  int64_t targetOf(const Launch &launch, const Rows &rows, const Logits &logits, int64_t r) const {
    return targetColumn(shape, launch.tensors, rows.first + logits.firstRow + r, logits.firstWord,
                        logits.words);
  }

  void differentiate(const Launch &launch, const Rows &rows) const {
    forEachGroup(launch, [&](const Group &group) {
      packWords(launch, group, true);
      launch.threads.forEachTile(group.tiles * rows.units(), [&](int64_t unit, int) {
        Logits logits;
        if (computeLogits(launch, rows, group, unit, logits))
          roundGradients(launch, rows, group, logits);
      });
      const int64_t wUnits = partsOf(group.tiles * kUnitWords, kOuter) * partsOf(shape.hidden, kInner);
      const int64_t xUnits = partsOf(shape.hidden, kOuter) * partsOf(rows.count, kInner);
      launch.threads.forEachTile(wUnits + xUnits, [&](int64_t unit, int) {
        if (unit < wUnits)
          sumWeightGradient(launch, rows, group, unit);
        else
          sumInputGradient(launch, rows, group, unit - wUnits);
      });
    });
    launch.threads.forEachTile(partsOf(rows.count, kStrip),
                               [&](int64_t strip, int) { storeInputGradient(launch, rows, strip); });
  }

  /// Logits to the gradients of logits, and those to both matrices that they are multiplied as.
  void roundGradients(const Launch &launch, const Rows &rows, const Group &group, Logits &logits) const {
    for (int64_t i = 0; i < logits.strips(); ++i) {
      StripGradient gradient;
      gradient.counts = 0;
      float ofTarget[kStrip];
      int64_t target[kStrip];
      for (int64_t lane = 0; lane < kStrip; ++lane) {
        const int64_t r = i * kStrip + lane, row = rows.first + logits.firstRow + r;
        const bool exists = r < logits.rows;
        target[lane] = exists ? targetOf(launch, rows, logits, r) : -1;
        if (target[lane] >= 0)
          ofTarget[lane] = gradientOfTarget<float>(shape, launch.tensors, row, logits.at(r, target[lane]));
        const LogitGradient<float> one =
            exists ? gradientOfRow<float>(shape, launch.tensors, row) : LogitGradient<float>{0, 0, 0, false};
        gradient.lse[lane] = one.lse, gradient.factor[lane] = one.factor, gradient.share[lane] = one.share;
        gradient.counts |= static_cast<uint16_t>(one.counts) << lane;
      }
      differentiateStrip(logits.strip(i), logits.words, static_cast<float>(shape.softcap), gradient);
      for (int64_t lane = 0; lane < kStrip; ++lane)
        if (target[lane] >= 0)
          logits.at(i * kStrip + lane, target[lane]) += ofTarget[lane];
    }
    const int64_t rowTiles = tileCount(rows.count), wordTiles = tileCount(group.words);
    const int64_t word = logits.firstWord - group.firstWord;
    for (int64_t i = 0; i < logits.strips(); i += 2) {
      const int64_t row = logits.firstRow + i * kStrip;
      roundPair(logits.strip(i), Logits::kStripSums, logits.words,
                {launch.scratch.gradientsLeft + word * rowTiles * kTileDepth + row * kStrip,
                 rowTiles * kTileElements,
                 launch.scratch.gradientsRight + row * wordTiles * kTileDepth + word * kStrip,
                 wordTiles * kTileElements});
    }
  }

  /// What the block of rows adds to some words and columns of dw.
  void sumWeightGradient(const Launch &launch, const Rows &rows, const Group &group, int64_t unit) const {
    const int64_t columnUnits = partsOf(shape.hidden, kInner);
    const int64_t word = unit / columnUnits * kOuter, column = unit % columnUnits * kInner;
    const int64_t width = std::min(kInner, shape.hidden - column), rowTiles = tileCount(rows.count);
    const int64_t count = std::clamp(group.words - word, int64_t{0}, kOuter);
    // Words of the group that w does not have, or the vocabulary's end.
    const int64_t all = std::min(kOuter, shape.vocabulary - group.firstWord - word);
    alignas(64) float sums[kOuter * kInner];
    if (count > 0) {
      const TilesInUse tilesInUse;
      multiplyDeep({.rowPairs = tileCount(count),
                    .columnPairs = tileCount(width),
                    .depth = rowTiles,
                    .a = launch.scratch.gradientsLeft + word * rowTiles * kTileDepth,
                    .aStrip = rowTiles * kTileElements,
                    .b = launch.scratch.xDepth + column * rowTiles * kTileDepth,
                    .bStrip = rowTiles * kTileElements,
                    .c = sums,
                    .cBelow = kInner * kStrip,
                    .cBeside = kTileSums,
                    .accumulate = false});
    }
    for (int64_t strip = 0; strip * kStrip < all; ++strip) {
      alignas(64) float values[kStrip * kInner];
      const int64_t have = std::clamp(count - strip * kStrip, int64_t{0}, kStrip);
      if (have > 0)
        copyTiles(sums + strip * kStrip * kInner, tileCount(width) * 2, values, kInner);
      std::fill(values + have * kInner, values + kStrip * kInner, 0.0f); // rows of w that do not exist
      const int64_t first = group.firstWord + word + strip * kStrip;
      addWeightGradient(
          launch, rows, values,
          {first * shape.hidden + column, std::min(kStrip, all - strip * kStrip), width, shape.hidden});
    }
  }

  /// Adds `values`, rows kInner apart, to a place of dw; stores it there where the rows are the last.
  void addWeightGradient(const Launch &launch, const Rows &rows, float *values,
                         const BlockPlace &place) const {
    float *sums = keepsWeightGradient()                ? launch.scratch.wGradient
                  : shape.weightGradient == DType::F32 ? static_cast<float *>(launch.tensors.wGradient)
                                                       : nullptr;
    if (rows.first > 0)
      for (int64_t r = 0; r < place.rows; ++r)
        for (int64_t c = 0; c < place.columns; ++c)
          values[r * kInner + c] += sums[place.offset + r * place.stride + c];
    if (rows.first + rows.count == shape.rows)
      storeBlock(values, kInner, shape.weightGradient, launch.tensors.wGradient, place);
    else
      storeBlock(values, kInner, DType::F32, sums, place);
  }

  /// What the words of a group add to some columns of x and rows of the block of dx^T.
  void sumInputGradient(const Launch &launch, const Rows &rows, const Group &group, int64_t unit) const {
    const int64_t rowUnits = partsOf(rows.count, kInner), wordTiles = tileCount(group.words);
    const int64_t column = unit / rowUnits * kOuter, row = unit % rowUnits * kInner;
    const int64_t columnPairs = tileCount(std::min(kOuter, shape.hidden - column));
    const int64_t rowPairs = tileCount(std::min(kInner, rows.count - row));
    const int64_t strip = paddedHidden * kStrip;
    float *sums = launch.scratch.xGradient + row * paddedHidden + column * kStrip;
    if (group.firstTile == 0)
      for (int64_t i = 0; i < rowPairs * 2; ++i)
        std::fill_n(sums + i * strip, columnPairs * 2 * kTileSums, 0.0f);
    if (group.words == 0)
      return;
    const TilesInUse tilesInUse;
    multiplyDeep({.rowPairs = columnPairs,
                  .columnPairs = rowPairs,
                  .depth = wordTiles,
                  .a = launch.scratch.wDepth + column * wordTiles * kTileDepth,
                  .aStrip = wordTiles * kTileElements,
                  .b = launch.scratch.gradientsRight + row * wordTiles * kTileDepth,
                  .bStrip = wordTiles * kTileElements,
                  .c = sums,
                  .cBelow = kTileSums,
                  .cBeside = strip,
                  .accumulate = true});
  }

  void storeInputGradient(const Launch &launch, const Rows &rows, int64_t strip) const {
    constexpr int64_t kColumns = 256;
    alignas(64) float values[kStrip * kColumns];
    for (int64_t column = 0; column < shape.hidden; column += kColumns) {
      const int64_t width = std::min(kColumns, shape.hidden - column);
      copyTilesTransposed(launch.scratch.xGradient + (strip * paddedHidden + column) * kStrip,
                          tileCount(width) * 2, values, kColumns);
      storeBlock(values, kColumns, shape.inputGradient, launch.tensors.xGradient,
                 {(rows.first + strip * kStrip) * shape.hidden + column,
                  std::min(kStrip, rows.count - strip * kStrip), width, shape.hidden});
    }
  }

  LossDirection direction;
  LinearCrossEntropyShape shape;
  int64_t rowBlock, paddedRows, paddedHidden, hiddenTiles;
  int64_t tiles;      ///< of kUnitWords words
  int64_t groupTiles; ///< of them
  int64_t workspace;
};

} // namespace

KernelOrError createLinearCrossEntropyTiles(LossDirection direction, const LinearCrossEntropyShape &shape) {
  return std::make_unique<LinearCrossEntropyTiles>(direction, shape);
}

} // namespace weft::cpu
