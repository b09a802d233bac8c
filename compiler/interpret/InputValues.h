//===- InputValues.h - Inputs that nobody gave ------------------------------===//
//
// Seeded values that depend on (seed, name, index) alone: floats are standard normal, i1 a fair coin,
// integers uniform in [0, bound), where the bound is the smallest number of rows that the input indexes in
// the program.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_INPUTVALUES_H
#define WEFT_COMPILER_INTERPRET_INPUTVALUES_H

#include "kernels/reference/Tensor.h"

#include "mlir/IR/Value.h"

namespace weft::interpret {

/// The rows of the smallest table that one of `values` indexes directly, or moved by dist alone: of a gather,
/// a scatter_add, or the vocabulary of a loss; `otherwise` when they index none.
int64_t integerBound(llvm::ArrayRef<mlir::Value> values, int64_t otherwise);

/// Values rounded to their type. `bound` is used for i32 and i64, and is at least 1.
absl::StatusOr<reference::Tensor> generate(const TensorType &type, const std::string &name, uint64_t seed,
                                           int64_t bound);

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_INPUTVALUES_H
