//===- LinearCrossEntropyRows.h - Row-wise arithmetic of a tile of logits -===//
//
// What happens between the products: softcap, the partial log-sum-exp of a tile, and the gradient of the
// logits. Rows are padded to whole vectors (padLogits), so a tile's rows are read and written a little past
// its columns, within the tile's stride. Instantiated for float and double; dispatched to the instruction set
// in use.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_LINEARCROSSENTROPYROWS_H
#define WEFT_KERNELS_CPU_LINEARCROSSENTROPYROWS_H

#include <cstdint>

namespace weft::cpu {

/// Logits of `rows` rows and `columns` words of the vocabulary, rows `stride` apart (a multiple of 16, at
/// least `columns`), aligned to 64 bytes.
template <typename T> struct LogitTile {
  T *logits;
  int64_t stride;
  int64_t rows;
  int64_t columns;
};

/// cap * tanh(logit / cap) in place.
void capLogits(const LogitTile<float> &tile, float cap);
void capLogits(const LogitTile<double> &tile, double cap);

/// Per row of the tile: its largest logit, and the sum of exp(logit - largest). `total` (null: not wanted)
/// gets the plain sum. Pads the tile's rows with -infinity.
void reduceLogits(const LogitTile<float> &tile, float *maximum, float *sum, float *total);
void reduceLogits(const LogitTile<double> &tile, double *maximum, double *sum, double *total);

/// How the gradient of a row's logits follows from its weights p = exp(logit - lse): factor * p - share. A
/// row that does not count has `counts` false: its gradient is 0 whatever its logits are.
template <typename T> struct LogitGradient {
  T lse;
  T factor;
  T share;
  bool counts;
};

/// Turns one row of `columns` (capped) logits into their gradients, all but the target's own term; with a
/// softcap, times its slope.
void differentiateLogits(float *row, int64_t columns, float cap, const LogitGradient<float> &gradient);
void differentiateLogits(double *row, int64_t columns, double cap, const LogitGradient<double> &gradient);

/// Rounds each value of a row to bfloat16.
void roundGradients(float *row, int64_t columns);
/// The same for at most kMostTileColumns values, and writes them as bfloat16 to the beginning of the row.
void narrowGradients(float *row, int64_t columns);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_LINEARCROSSENTROPYROWS_H
