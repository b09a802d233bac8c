//===- BlockWalk.h - Op after op, values dropped after their last use -------===//
//
// What every evaluation of a block has in common, whatever a value is: one tensor, or one per rank. A walk
// can stop before an op that must wait, and go on there later.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_BLOCKWALK_H
#define WEFT_COMPILER_INTERPRET_BLOCKWALK_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace weft::interpret {

template <typename V> class BlockWalk {
public:
  /// `wanted` are values of the block, which `results` gives.
  BlockWalk(mlir::Block &block, llvm::ArrayRef<V> arguments, mlir::ValueRange wanted)
      : next(block.begin()), end(block.end()), wanted(wanted) {
    for (mlir::Operation &op : block)
      if (!op.hasTrait<mlir::OpTrait::IsTerminator>())
        for (mlir::Value operand : op.getOperands())
          ++usesLeft[operand];
    for (mlir::Value result : wanted)
      ++usesLeft[result];
    for (auto [argument, given] : llvm::zip_equal(block.getArguments(), arguments))
      define(argument, given);
  }

  /// Evaluates the ops up to the terminator with `evaluate(op, operands)`, which gives an op's results. Fails
  /// where that fails: the op is then the next one of another call.
  template <typename Evaluate> mlir::LogicalResult run(Evaluate evaluate) {
    for (; next != end && !next->hasTrait<mlir::OpTrait::IsTerminator>(); ++next, ++evaluated) {
      mlir::Operation *op = &*next;
      llvm::SmallVector<V> operands =
          llvm::map_to_vector(op->getOperands(), [&](mlir::Value value) { return values.lookup(value); });
      mlir::FailureOr<llvm::SmallVector<V>> given = evaluate(op, llvm::ArrayRef<V>(operands));
      if (mlir::failed(given))
        return mlir::failure();
      for (mlir::Value operand : op->getOperands())
        drop(operand);
      for (auto [result, value] : llvm::zip_equal(op->getResults(), *given))
        define(result, value);
    }
    return mlir::success();
  }

  /// The ops that have been evaluated so far.
  int64_t opsDone() const { return evaluated; }

  llvm::SmallVector<V> results() {
    return llvm::map_to_vector(wanted, [&](mlir::Value value) { return values.lookup(value); });
  }

private:
  void define(mlir::Value value, const V &given) {
    if (usesLeft.lookup(value) > 0)
      values[value] = given;
  }
  void drop(mlir::Value value) {
    if (--usesLeft[value] == 0)
      values.erase(value);
  }

  mlir::Block::iterator next, end;
  llvm::SmallVector<mlir::Value> wanted;
  llvm::DenseMap<mlir::Value, V> values;
  llvm::DenseMap<mlir::Value, int64_t> usesLeft;
  int64_t evaluated = 0;
};

/// A walk from begin to end, in one go.
template <typename V, typename Evaluate>
mlir::FailureOr<llvm::SmallVector<V>> walkBlock(mlir::Block &block, llvm::ArrayRef<V> arguments,
                                                mlir::ValueRange results, Evaluate evaluate) {
  BlockWalk<V> walk(block, arguments, results);
  if (mlir::failed(walk.run(evaluate)))
    return mlir::failure();
  return walk.results();
}

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_BLOCKWALK_H
