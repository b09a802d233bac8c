//===- BlockWalk.h - Op after op, values dropped after their last use -------===//
//
// What every evaluation of a block has in common, whatever a value is: one tensor, or one per rank.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_BLOCKWALK_H
#define WEFT_COMPILER_INTERPRET_BLOCKWALK_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace weft::interpret {

/// Evaluates all ops of the block but its terminator with `evaluate(op, operands)`, which gives an op's
/// results, and returns `results`, which are values of the block.
template <typename V, typename Evaluate>
mlir::FailureOr<llvm::SmallVector<V>> walkBlock(mlir::Block &block, llvm::ArrayRef<V> arguments,
                                                mlir::ValueRange results, Evaluate evaluate) {
  llvm::DenseMap<mlir::Value, V> values;
  llvm::DenseMap<mlir::Value, int64_t> usesLeft;
  for (mlir::Operation &op : block)
    if (!op.hasTrait<mlir::OpTrait::IsTerminator>())
      for (mlir::Value operand : op.getOperands())
        ++usesLeft[operand];
  for (mlir::Value result : results)
    ++usesLeft[result];
  auto define = [&](mlir::Value value, const V &given) {
    if (usesLeft.lookup(value) > 0)
      values[value] = given;
  };
  auto use = [&](mlir::Value value) {
    V found = values.lookup(value);
    if (--usesLeft[value] == 0)
      values.erase(value);
    return found;
  };
  for (auto [argument, given] : llvm::zip_equal(block.getArguments(), arguments))
    define(argument, given);
  for (mlir::Operation &op : block) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>())
      break;
    llvm::SmallVector<V> operands = llvm::map_to_vector(op.getOperands(), use);
    mlir::FailureOr<llvm::SmallVector<V>> evaluated = evaluate(&op, llvm::ArrayRef<V>(operands));
    if (mlir::failed(evaluated))
      return mlir::failure();
    for (auto [result, given] : llvm::zip_equal(op.getResults(), *evaluated))
      define(result, given);
  }
  return llvm::SmallVector<V>(llvm::map_range(results, use));
}

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_BLOCKWALK_H
