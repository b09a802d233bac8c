//===- Evaluate.h - Running and rewriting one-op functions ------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_EVALUATE_H
#define WEFT_TOOLS_WEFT_TRIALS_EVALUATE_H

#include "tools/weft-trials/CaseBuilder.h"

namespace weft::trials {

/// The results of a function in exact float64. Fails with a diagnostic.
mlir::FailureOr<std::vector<Tensor>> evaluate(mlir::func::FuncOp function, std::vector<Tensor> arguments);

/// Replaces every composite of the block by its decomposition, until only primitives are left.
void decomposeAll(mlir::Block &block);

/// The largest |a - b| / max(|b|, 1) over the elements of two tensors; infinity where one is NaN or an
/// infinity that the other is not, or where integers differ, or types do.
double relativeDistance(const Tensor &a, const Tensor &b);

/// A tensor of `like`'s shape and type with normal values (small integers where it holds integers).
Tensor randomLike(Random &random, const Tensor &like);

/// a + b, element by element.
Tensor addTensors(const Tensor &a, const Tensor &b);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_EVALUATE_H
