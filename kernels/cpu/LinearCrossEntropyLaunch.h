//===- LinearCrossEntropyLaunch.h - What each way through the logits needs -===//
//
// The tensors of a launch by name, and what is done for a row of x between the products, for the kernels of
// float32 and float64 products (LinearCrossEntropy.cpp) and those of tiles (LinearCrossEntropyTiles.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_LINEARCROSSENTROPYLAUNCH_H
#define WEFT_KERNELS_CPU_LINEARCROSSENTROPYLAUNCH_H

#include "kernels/common/Kernel.h"
#include "kernels/cpu/AttentionBlocks.h"
#include "kernels/cpu/LinearCrossEntropyRows.h"
#include "kernels/cpu/LinearCrossEntropyShape.h"

#include <cmath>
#include <limits>

namespace weft::cpu {

enum class LossDirection { Forward, Statistics, Backward, Both };

inline bool reducesRows(LossDirection direction) { return direction != LossDirection::Backward; }
inline bool writesGradients(LossDirection direction) {
  return direction == LossDirection::Backward || direction == LossDirection::Both;
}
/// Whether the plain sum of a row's logits is asked for.
inline bool sumsLogits(LossDirection direction, const LinearCrossEntropyShape &shape) {
  return direction == LossDirection::Statistics || (reducesRows(direction) && shape.labelSmoothing > 0);
}

/// The tensors of a launch by name, wherever they are in the signature; null where it has none.
struct LossTensors {
  const void *lossGradient = nullptr, *zLossGradient = nullptr, *x = nullptr, *w = nullptr;
  const int32_t *targets = nullptr;
  const void *lse = nullptr; ///< read by the gradients; in Both, what the forward half has just written
  void *loss = nullptr, *zLoss = nullptr, *lseResult = nullptr, *xGradient = nullptr, *wGradient = nullptr;
  void *targetLogit = nullptr, *logitSum = nullptr; ///< of the statistics
  int64_t words = 0;                                ///< rows of w that exist: the first, and often all

  LossTensors(LossDirection direction, const LinearCrossEntropyShape &shape,
              const KernelArguments &arguments) {
    size_t operand = 0, result = 0;
    if (writesGradients(direction)) {
      lossGradient = arguments.operands[operand++];
      zLossGradient = arguments.operands[operand++];
    }
    x = arguments.operands[operand++];
    w = arguments.operands[operand++];
    targets = static_cast<const int32_t *>(arguments.operands[operand++]);
    if (direction == LossDirection::Statistics) {
      lseResult = arguments.results[result++];
      targetLogit = arguments.results[result++];
      logitSum = arguments.results[result];
    } else if (direction == LossDirection::Backward) {
      lse = arguments.operands[operand++];
    } else {
      loss = arguments.results[result++];
      zLoss = arguments.results[result++];
      lse = lseResult = arguments.results[result++];
    }
    words = shape.vocabulary;
    if (shape.hasValid)
      words = std::clamp(*static_cast<const int64_t *>(arguments.operands[operand]), int64_t{0}, words);
    if (writesGradients(direction)) {
      xGradient = arguments.results[result++];
      wGradient = arguments.results[result];
    }
  }
};

/// The column of the target of `row` among `columns` words from `firstWord` on, or -1 where it is elsewhere
/// or does not count.
inline int64_t targetColumn(const LinearCrossEntropyShape &shape, const LossTensors &tensors, int64_t row,
                            int64_t firstWord, int64_t columns) {
  const int32_t target = tensors.targets[row];
  const int64_t column = target - firstWord;
  return shape.counts(target) && column >= 0 && column < columns ? column : -1;
}

/// What a row's tiles of the vocabulary say together.
template <typename T> struct RowStatistics {
  T lse, total;
};

/// Partial results of a row, `stride` apart, folded in ascending order of the vocabulary. `total` may be
/// null.
template <typename T>
RowStatistics<T> foldTiles(const T *maxima, const T *sums, const T *totals, int64_t tiles, int64_t stride) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  T maximum = kNone, sum = 0, total = 0;
  for (int64_t tile = 0; tile < tiles; ++tile)
    maximum = std::max(maximum, maxima[tile * stride]);
  const T base = maximum == kNone ? T(0) : maximum; // of no word at all, log 0
  for (int64_t tile = 0; tile < tiles; ++tile) {
    sum += sums[tile * stride] * std::exp(maxima[tile * stride] - base);
    if (totals)
      total += totals[tile * stride];
  }
  return {base + std::log(sum), total};
}

/// Writes the losses of `row`, or the statistics that they would be made of.
template <typename T>
void finishRow(LossDirection direction, const LinearCrossEntropyShape &shape, const LossTensors &tensors,
               int64_t row, const RowStatistics<T> &statistics, T targetLogit) {
  storeStatistic(shape.statistics, tensors.lseResult, row, statistics.lse);
  if (direction == LossDirection::Statistics) {
    const int32_t target = tensors.targets[row];
    storeStatistic(shape.statistics, tensors.targetLogit, row,
                   target >= 0 && target < tensors.words ? targetLogit : T(0));
    storeStatistic(shape.statistics, tensors.logitSum, row, statistics.total);
    return;
  }
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

/// How the gradients of the logits of `row` follow from its weights, all but the target's own term.
template <typename T>
LogitGradient<T> gradientOfRow(const LinearCrossEntropyShape &shape, const LossTensors &tensors,
                               int64_t row) {
  const T lossGradient = loadStatistic<T>(shape.statistics, tensors.lossGradient, row);
  const T zLossGradient = loadStatistic<T>(shape.statistics, tensors.zLossGradient, row);
  const T lse = loadStatistic<T>(shape.statistics, tensors.lse, row);
  return {lse, lossGradient + zLossGradient * 2 * static_cast<T>(shape.zLoss) * lse,
          lossGradient * static_cast<T>(shape.labelSmoothing) / static_cast<T>(shape.smoothedWords()),
          shape.isPart() ? lossGradient != 0 || zLossGradient != 0 : shape.counts(tensors.targets[row])};
}

/// The target's own term, whose (capped) logit is `logit`: to be added to its gradient.
template <typename T>
T gradientOfTarget(const LinearCrossEntropyShape &shape, const LossTensors &tensors, int64_t row, T logit) {
  const T cap = static_cast<T>(shape.softcap), smoothing = static_cast<T>(shape.labelSmoothing);
  const T slope = cap > 0 ? 1 - logit / cap * (logit / cap) : T(1);
  return -loadStatistic<T>(shape.statistics, tensors.lossGradient, row) * (1 - smoothing) * slope;
}

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_LINEARCROSSENTROPYLAUNCH_H
