//===- LinearCrossEntropyShape.h - What a cross-entropy call asks for -----===//
//
// Sizes, types and attributes of the four `linear_cross_entropy` kernels, checked against the signature
// once; and the one tiling that all of them use, which is why their bits agree: rows in blocks, the
// vocabulary in tiles, both a function of the sizes alone.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_LINEARCROSSENTROPYSHAPE_H
#define WEFT_KERNELS_CPU_LINEARCROSSENTROPYSHAPE_H

#include "kernels/common/KernelCall.h"

#include "absl/status/statusor.h"

namespace weft::cpu {

/// Columns of a tile of logits.
constexpr int64_t kMostTileColumns = 512;

struct LinearCrossEntropyShape {
  int64_t rows = 0;       ///< all leading dimensions of x together
  int64_t hidden = 0;     ///< h
  int64_t vocabulary = 0; ///< v
  int64_t partOf = 0;     ///< words of the vocabulary that w is a part of; 0: w is all of it, and is told so
  bool hasValid = false;  ///< an operand says how many rows of w exist
  int64_t ignoreIndex = 0;
  bool hasIgnoreIndex = false;
  double labelSmoothing = 0;
  double zLoss = 0;
  double softcap = 0; ///< 0: none
  bool wide = false;  ///< everything is f64, and computed so
  DType input = DType::F32, weight = DType::F32;
  bool roundsWeight = false;     ///< w is float32, and rounded to bfloat16, as x is, before it is multiplied
  DType statistics = DType::F32; ///< of losses, lse and their gradients: f32, or f64 in a wide call
  DType inputGradient = DType::F32, weightGradient = DType::F32;

  int64_t rowBlock =
      0; ///< rows whose logits exist at a time (in backward kernels, for all of the vocabulary)
  int64_t vocabularyTile = 0; ///< columns of one product

  int64_t rowBlocks() const { return (rows + rowBlock - 1) / rowBlock; }
  int64_t vocabularyTiles() const { return (vocabulary + vocabularyTile - 1) / vocabularyTile; }

  /// True when w may be a part of the vocabulary: a target that it does not have belongs to another part.
  bool isPart() const { return partOf > 0; }
  /// True when products are of bfloat16.
  bool multipliesBFloat16() const { return input == DType::BF16 && (weight == DType::BF16 || roundsWeight); }
  /// What label smoothing is shared by.
  int64_t smoothedWords() const { return isPart() ? partOf : vocabulary; }

  /// True when a row with this target has a loss.
  bool counts(int32_t target) const {
    return target >= 0 && target < vocabulary && !(hasIgnoreIndex && target == ignoreIndex);
  }

  /// Of `linear_cross_entropy(x, w, targets) -> loss, z_loss, lse`.
  static absl::StatusOr<LinearCrossEntropyShape> forward(const KernelCall &call);
  /// Of `linear_cross_entropy_statistics(x, w, targets, [valid]) -> lse, target_logit, logit_sum`.
  static absl::StatusOr<LinearCrossEntropyShape> partial(const KernelCall &call);
  /// Of `linear_cross_entropy_backward(dloss, dz_loss, x, w, targets, lse, [valid]) -> dx, dw`; `valid` only
  /// with part_of.
  static absl::StatusOr<LinearCrossEntropyShape> backward(const KernelCall &call);
  /// Of `linear_cross_entropy_forward_backward(dloss, dz_loss, x, w, targets) -> loss, z_loss, lse, dx, dw`.
  static absl::StatusOr<LinearCrossEntropyShape> forwardBackward(const KernelCall &call);
};

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_LINEARCROSSENTROPYSHAPE_H
