//===- LossHead.cpp - Forward and backward of the loss head in one pass ------===//
//
// A bfloat16 head multiplies float32 weights that it rounds itself, where nothing else needs them rounded: no
// rounded copy of the largest weight exists.
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

/// The operand of a head that is its weight, or none.
OpOperand *weightOf(Operation *op) {
  if (isa<nn::LinearCrossEntropyOp, nn::LinearCrossEntropyStatisticsOp>(op))
    return &op->getOpOperand(1);
  return isa<nn::LinearCrossEntropyBackwardOp>(op) ? &op->getOpOperand(3) : nullptr;
}

/// Takes the float32 weight whose cast to bfloat16 heads alone use, and the rounding into the call.
void takeWeightUnrounded(KernelCall &call, MutableArrayRef<Value> operands, size_t weight) {
  auto cast = operands[weight].getDefiningOp<nn::CastOp>();
  if (!cast || toTensorType(nn::tensorType(cast.getOperand())).dtype != DType::F32 ||
      call.operands[weight].dtype != DType::BF16)
    return;
  if (llvm::any_of(cast->getUses(), [](OpOperand &use) { return weightOf(use.getOwner()) != &use; }))
    return;
  KernelCall unrounded = call;
  unrounded.operands[weight].dtype = DType::F32;
  unrounded.setInteger("weight_type", static_cast<int64_t>(DType::BF16));
  if (!cpu::hasKernel(unrounded))
    return;
  call = unrounded;
  operands[weight] = cast.getOperand();
}

/// A head that is not merged, and whose weight is rounded for it.
void launchWithUnroundedWeight(Operation *head) {
  std::optional<KernelCall> call = kernelCallFor(head);
  if (!call || !cpu::takesCall(*call))
    return;
  SmallVector<Value> operands(head->getOperands());
  takeWeightUnrounded(*call, operands, weightOf(head)->getOperandNumber());
  if (operands == SmallVector<Value>(head->getOperands()))
    return;
  OpBuilder builder(head);
  head->replaceAllUsesWith(createLaunch(builder, head->getLoc(), *call, operands));
  head->erase();
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
  SmallVector<Value> operands = {dLoss, dZ, forward.getInput(), forward.getWeight(), forward.getTargets()};
  takeWeightUnrounded(call, operands, 3);
  OpBuilder builder(forward);
  sched::LaunchOp launch = createLaunch(builder, forward.getLoc(), call, operands);
  forward.replaceAllUsesWith(launch.getOutputs().take_front(3));
  backward.replaceAllUsesWith(launch.getOutputs().drop_front(3));
  backward.erase();
  forward.erase();
}
} // namespace

void launchLossHeads(Block &block) {
  for (auto backward : llvm::make_early_inc_range(block.getOps<nn::LinearCrossEntropyBackwardOp>())) {
    auto forward = backward.getLse().getDefiningOp<nn::LinearCrossEntropyOp>();
    if (forward && forward.getLse() == backward.getLse() && forward.getInput() == backward.getInput() &&
        forward.getWeight() == backward.getWeight() && forward.getTargets() == backward.getTargets() &&
        forward->getAttrDictionary() == backward->getAttrDictionary())
      mergeLossHead(forward, backward);
  }
  for (Operation &op : llvm::make_early_inc_range(block))
    if (weightOf(&op))
      launchWithUnroundedWeight(&op);
}

} // namespace weft
