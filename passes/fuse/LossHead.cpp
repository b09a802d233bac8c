//===- LossHead.cpp - Forward and backward of the loss head in one pass ------===//
//
// The logits are the largest product of a step; computing them once for both directions saves a third of the
// head. It is possible where the backward's cotangents are known before the forward: they are constants, for
// a loss that is summed and normalized later.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NnDialect.h"
#include "kernels/cpu/Cpu.h"
#include "passes/analysis/KernelCalls.h"
#include "passes/fuse/Fuse.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {
namespace {
/// The ops of `block` after `start` that `value` depends on, in block order; fails if `start` is among them.
FailureOr<SmallVector<Operation *>> dependencesAfter(Operation *start, ValueRange values) {
  llvm::SetVector<Operation *> found;
  SmallVector<Value> pending(values);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || op->isBeforeInBlock(start))
      continue;
    if (op == start)
      return failure();
    if (found.insert(op))
      llvm::append_range(pending, op->getOperands());
  }
  SmallVector<Operation *> ordered = found.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

void mergeLossHead(nn::LinearCrossEntropyOp forward, nn::LinearCrossEntropyBackwardOp backward) {
  Value dLoss = backward.getLossCotangent(), dZ = backward.getZLossCotangent();
  FailureOr<SmallVector<Operation *>> earlier = dependencesAfter(forward, {dLoss, dZ});
  if (failed(earlier))
    return;
  KernelCall call = *kernelCallFor(backward);
  call.name = "linear_cross_entropy_forward_backward";
  call.operands.pop_back(); // the log-sum-exp is a result now
  std::vector<TensorType> forwardResults = kernelCallFor(forward)->results;
  call.results.insert(call.results.begin(), forwardResults.begin(), forwardResults.end());
  if (!cpu::hasKernel(call))
    return;
  for (Operation *op : *earlier)
    op->moveBefore(forward);
  OpBuilder builder(forward);
  sched::LaunchOp launch =
      createLaunch(builder, forward.getLoc(), call,
                   {dLoss, dZ, forward.getInput(), forward.getWeight(), forward.getTargets()});
  forward.replaceAllUsesWith(launch.getOutputs().take_front(3));
  backward.replaceAllUsesWith(launch.getOutputs().drop_front(3));
  backward.erase();
  forward.erase();
}
} // namespace

void mergeLossHeads(Block &block) {
  for (auto backward : llvm::make_early_inc_range(block.getOps<nn::LinearCrossEntropyBackwardOp>())) {
    auto forward = backward.getLse().getDefiningOp<nn::LinearCrossEntropyOp>();
    if (forward && forward.getLse() == backward.getLse() && forward.getInput() == backward.getInput() &&
        forward.getWeight() == backward.getWeight() && forward.getTargets() == backward.getTargets() &&
        forward->getAttrDictionary() == backward->getAttrDictionary())
      mergeLossHead(forward, backward);
  }
}

} // namespace weft
