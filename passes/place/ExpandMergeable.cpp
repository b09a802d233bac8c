#include "passes/place/ExpandMergeable.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
namespace {
/// The read whose value this is, or a cast of it.
nn::ReadOp readBehind(Value value) {
  while (auto castOp = value.getDefiningOp<nn::CastOp>())
    value = castOp.getOperand();
  return value.getDefiningOp<nn::ReadOp>();
}

bool isSplit(Operation *op, int factor, llvm::function_ref<dist::Placement(StringRef)> uses) {
  nn::ShardingRule rule = cast<nn::ShardingRuleOpInterface>(op).shardingRule();
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands)) {
    nn::ReadOp read = readBehind(operand);
    if (!read)
      continue;
    dist::Placement use = uses(read.getVariable());
    for (auto [split, factors] : llvm::zip_equal(use.splits, dimensions))
      if (llvm::is_contained(factors, factor) && use.mesh.sizeOf(split.axes) > 1)
        return true;
  }
  return false;
}
} // namespace

void expandMergeableReductions(Block &block, llvm::function_ref<dist::Placement(StringRef)> uses) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto mergeable = dyn_cast<nn::MergeableReductionOpInterface>(op);
    std::optional<int> factor = mergeable ? mergeable.mergeableFactor() : std::nullopt;
    if (!factor || !isSplit(&op, *factor, uses))
      continue;
    OpBuilder builder(&op);
    op.replaceAllUsesWith(mergeable.expand(builder));
    op.erase();
  }
}

} // namespace weft
