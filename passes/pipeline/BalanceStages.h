//===- BalanceStages.h - Stages of nearly equal cost ----------------------------===//
//
// What each layer costs a rank (floating-point operations of its F, B and W; bytes of its parameters and of
// what F leaves to its backward), and the cut for which the costliest stage costs least. What comes before
// the first boundary and behind the last one, embedding and head, are layers like others.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_BALANCESTAGES_H
#define WEFT_PASSES_PIPELINE_BALANCESTAGES_H

#include "passes/pipeline/StageAssignment.h"
#include "passes/pipeline/schedules/Timeline.h"

namespace weft {

struct LayerCost {
  int64_t firstLayer = -1; ///< that of its boundary; -1 before the first one
  double forward = 0, backwardInput = 0, backwardWeight = 0; ///< floating-point operations
  int64_t parameterBytes = 0, residualBytes = 0;             ///< on a rank

  double work() const { return forward + backwardInput + backwardWeight; }
};

/// Along the model. Fails where StageAssignment does.
mlir::FailureOr<std::vector<LayerCost>> layerCosts(nn::StepOp step);

/// Of a rank with an even share of the layers, for one microbatch: a second is what this many operations
/// take, a message between ranks takes a twentieth of all.
schedules::ActionTimes timesOf(llvm::ArrayRef<LayerCost> layers, int ranks);

/// Bytes that a stage may need: those of its parameters times `copies` (gradients, moments), and what it
/// holds of so many microbatches.
struct StageMemory {
  double limit = 0; ///< of a stage; 0: none
  double copies = 4;
  double microbatchesHeld = 1;
};

/// The cut into `stages` stages whose costliest one costs least, among those within the memory; if there is
/// none, within any. Of equals the one whose early stages are the longest. Fails, saying so at `step`, when
/// there are fewer layers than stages.
mlir::FailureOr<StageCuts> balanceStages(nn::StepOp step, llvm::ArrayRef<LayerCost> layers, int stages,
                                         const StageMemory &memory);

} // namespace weft

#endif // WEFT_PASSES_PIPELINE_BALANCESTAGES_H
