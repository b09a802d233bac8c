//===- StageAssignment.h - Which stage and action each op belongs to ------------===//
//
// A pipeline is cut where a layer begins, at an `nn.boundary`. Along the block a microbatch passes the stages
// forward and then back; an op belongs to the last of these places that it depends on. What depends on
// inputs and variables alone belongs nowhere: whoever needs it computes it.
//
// A stage's ops form its actions: F gives what the next stage waits for (on the last stage: up to its last
// boundary, so that a loss head and its backward are one); B gives the cotangents of all block inputs, and
// whatever else is carried; W is what only parameter gradients need.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_STAGEASSIGNMENT_H
#define WEFT_PASSES_PIPELINE_STAGEASSIGNMENT_H

#include "dialects/nn/NnDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace weft {

/// Where a pipeline is cut: the layer that each stage after the first begins with, ascending.
struct StageCuts {
  llvm::SmallVector<int64_t> firstLayers;

  int stages() const { return static_cast<int>(firstLayers.size()) + 1; }
  /// The stage of what comes behind the boundary of this layer, and of what comes before it.
  int stageBehind(int64_t layer) const;
  int stageBefore(int64_t layer) const;
};

enum class StageAction : uint8_t { Forward, BackwardInput, BackwardWeight };

struct StagePlace {
  int stage = 0;
  StageAction action = StageAction::Forward;
  bool operator==(const StagePlace &) const = default;
};

using ValueList = llvm::SetVector<mlir::Value>;

class StageAssignment {
public:
  /// Of the microbatch of a step. Fails, with a diagnostic, where a stage begins with a layer that has no
  /// boundary.
  static mlir::FailureOr<StageAssignment> of(nn::StepOp step, const StageCuts &cuts);

  int stages() const { return static_cast<int>(toNext.size()); }
  bool hasBackward() const { return isTraining; }
  /// None for what belongs nowhere.
  std::optional<StagePlace> placeOf(mlir::Operation *op) const;
  std::optional<StagePlace> placeOf(mlir::Value value) const;

  /// What goes from stage `stage` to the next one behind its F, and to the one before it behind its B, of its
  /// own or passed on.
  const ValueList &sentForward(int stage) const { return toNext[stage]; }
  const ValueList &sentBackward(int stage) const { return toPrevious[stage]; }

private:
  explicit StageAssignment(nn::StepOp step, const StageCuts &cuts)
      : block(step.getMicrobatch().front()), cuts(cuts), toNext(cuts.stages()), toPrevious(cuts.stages()),
        members(cuts.stages()) {}

  mlir::LogicalResult checkBoundaries(nn::StepOp step) const;
  mlir::LogicalResult findStages();
  void findMessages();
  void findActions();
  void assign(int stage, StageAction action, llvm::ArrayRef<mlir::Value> roots);
  int stageAt(int position) const {
    return position < cuts.stages() ? position : 2 * cuts.stages() - 1 - position;
  }
  int positionOf(mlir::Value value) const;

  mlir::Block &block;
  StageCuts cuts;
  bool isTraining = false;
  llvm::DenseMap<mlir::Operation *, int> positions; ///< 0, 1, ... forward, then back
  llvm::DenseMap<mlir::Operation *, StagePlace> places;
  std::vector<ValueList> toNext, toPrevious;
  std::vector<std::vector<mlir::Operation *>> members; ///< of each stage, in the order of the block
};

/// Whether a carried value of this name is the gradient of a parameter, and of which.
std::optional<llvm::StringRef> gradientOf(llvm::StringRef carriedName);

} // namespace weft

#endif // WEFT_PASSES_PIPELINE_STAGEASSIGNMENT_H
