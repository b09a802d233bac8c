//===- Decompositions.h - What a composite means, kept --------------------===//
//
// A composite means what its decomposition into simpler ops means. The decomposition is built in a scratch
// block of its own, never in the program, and kept for the next evaluation of the op. For exact evaluation
// every float type of the op is float64 there, so that no constant of the decomposition is rounded. What is a
// part of a larger tensor is computed as if it were whole.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_DECOMPOSITIONS_H
#define WEFT_COMPILER_INTERPRET_DECOMPOSITIONS_H

#include "compiler/interpret/Values.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace weft::interpret {

/// A block with one argument per operand of the composite, and one more where it must know how many elements
/// of a rank's part are valid (nn::paddedFactor); `results` are values in it.
struct Decomposition {
  mlir::Block block;
  llvm::SmallVector<mlir::Value> results;
};

class Decompositions {
public:
  explicit Decompositions(Types types) : types(types) {}

  /// Null when the op is no composite. Fails, with a diagnostic at the op, when the decomposition's results
  /// do not have the op's types. The op must not change while this object lives.
  mlir::FailureOr<Decomposition *> of(mlir::Operation *op);

private:
  mlir::Type typeInside(mlir::Type type) const;

  Types types;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Decomposition>> built;
};

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_DECOMPOSITIONS_H
