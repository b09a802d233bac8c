//===- Primitives.h - One nn primitive, by the reference --------------------===//
//
// The only place that says which reference function a primitive is.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_PRIMITIVES_H
#define WEFT_COMPILER_INTERPRET_PRIMITIVES_H

#include "compiler/interpret/Values.h"

#include "mlir/IR/Operation.h"

namespace weft::interpret {

/// The results of a primitive, in float64 and not rounded; nothing when the op is no primitive. Fails as the
/// reference does.
std::optional<absl::StatusOr<std::vector<Tensor>>> evaluatePrimitive(mlir::Operation *op,
                                                                     llvm::ArrayRef<const Tensor *> operands);

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_PRIMITIVES_H
