//===- ElementwiseError.h - Rounding of element-wise ops --------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_ELEMENTWISEERROR_H
#define WEFT_TOOLS_WEFT_TRIALS_ELEMENTWISEERROR_H

#include "tools/weft-trials/ErrorBound.h"

namespace weft::trials {

/// The error of each element of the result of an element-wise op; none for any other op. `result` is its
/// exact value.
std::optional<std::vector<double>>
elementwiseErrors(mlir::Operation *op, llvm::ArrayRef<const Bounded *> operands, const Tensor &result);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_ELEMENTWISEERROR_H
