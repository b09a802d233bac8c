#include "passes/place/PrepareParameters.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {

void prepareParameters(nn::StepOp step) {
  Block &microbatch = step.getMicrobatch().front(), &prepare = step.getPrepare().front();
  // Values that depend on variables alone, through casts and reshards.
  llvm::SetVector<Operation *> invariant;
  for (Operation &op : microbatch)
    if (isa<nn::ReadOp>(op) || (isa<nn::CastOp, dist::ReshardOp>(op) && op.getOperand(0).getDefiningOp() &&
                                invariant.contains(op.getOperand(0).getDefiningOp())))
      invariant.insert(&op);
  // Those worth a slot: resharded somewhere on their way, and used by what stays.
  llvm::SetVector<Operation *> resharded;
  for (Operation *op : invariant)
    if (isa<dist::ReshardOp>(op) ||
        (op->getNumOperands() > 0 && resharded.contains(op->getOperand(0).getDefiningOp())))
      resharded.insert(op);
  auto yield = cast<nn::YieldOp>(prepare.getTerminator());
  auto update = &step.getUpdate().front();
  OpBuilder builder(yield);
  IRMapping mapping;
  for (Operation *op : invariant)
    builder.clone(*op, mapping);
  for (Operation *op : resharded) {
    Value value = op->getResult(0);
    bool leaves = llvm::any_of(value.getUsers(), [&](Operation *user) { return !invariant.contains(user); });
    if (!leaves)
      continue;
    yield.getValuesMutable().append(mapping.lookup(value));
    BlockArgument argument = microbatch.addArgument(value.getType(), value.getLoc());
    update->addArgument(value.getType(), value.getLoc());
    value.replaceUsesWithIf(argument, [&](OpOperand &use) { return !invariant.contains(use.getOwner()); });
  }
  auto eraseUnused = [](Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (op.use_empty() && isa<nn::ReadOp, nn::CastOp, dist::ReshardOp>(op))
        op.erase();
  };
  eraseUnused(microbatch);
  eraseUnused(prepare);
}

} // namespace weft
