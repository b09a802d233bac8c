//===- Evaluator.h - One op on the tensors of one rank ----------------------===//
//
// Primitives by their reference function, composites by their decomposition. Where the tensors come from, and
// whether they are parts of larger ones, is not known here.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_EVALUATOR_H
#define WEFT_COMPILER_INTERPRET_EVALUATOR_H

#include "compiler/interpret/Decompositions.h"

#include <memory>

namespace weft::interpret {

using Shared = std::shared_ptr<const Tensor>;

class Evaluator {
public:
  /// The IR must not change while this object lives.
  explicit Evaluator(Types types) : types(types), decompositions(types) {}

  /// The results of a primitive or composite of nn. Fails, with a diagnostic at the op, on any other op and
  /// where the reference fails.
  mlir::FailureOr<llvm::SmallVector<Shared>> evaluate(mlir::Operation *op, llvm::ArrayRef<Shared> operands);

private:
  mlir::FailureOr<llvm::SmallVector<Shared>> evaluateComposite(mlir::Operation *op,
                                                               llvm::ArrayRef<Shared> operands);

  Types types;
  Decompositions decompositions;
};

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_EVALUATOR_H
