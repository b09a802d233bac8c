#include "passes/pipeline/StageAssignment.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

using namespace weft::nn;

int StageCuts::stageBehind(int64_t layer) const {
  return static_cast<int>(llvm::upper_bound(firstLayers, layer) - firstLayers.begin());
}

int StageCuts::stageBefore(int64_t layer) const {
  return static_cast<int>(llvm::lower_bound(firstLayers, layer) - firstLayers.begin());
}

std::optional<StringRef> gradientOf(StringRef carriedName) {
  if (!carriedName.consume_front("gradient/"))
    return std::nullopt;
  return carriedName.rsplit('/').first;
}

FailureOr<StageAssignment> StageAssignment::of(StepOp step, const StageCuts &cuts) {
  StageAssignment assignment(step, cuts);
  if (failed(assignment.checkBoundaries(step)) || failed(assignment.findStages()))
    return failure();
  assignment.findMessages();
  assignment.findActions();
  return assignment;
}

std::optional<StagePlace> StageAssignment::placeOf(Operation *op) const {
  auto found = places.find(op);
  return found == places.end() ? std::nullopt : std::optional(found->second);
}

std::optional<StagePlace> StageAssignment::placeOf(Value value) const {
  return value.getDefiningOp() ? placeOf(value.getDefiningOp()) : std::nullopt;
}

int StageAssignment::positionOf(Value value) const {
  auto found = positions.find(value.getDefiningOp());
  return found == positions.end() ? -1 : found->second;
}

LogicalResult StageAssignment::checkBoundaries(StepOp step) const {
  llvm::DenseSet<int64_t> layers;
  for (auto boundary : block.getOps<BoundaryOp>())
    if (!boundary.getBackward())
      layers.insert(static_cast<int64_t>(boundary.getLayer()));
  for (int64_t layer : cuts.firstLayers)
    if (!layers.contains(layer))
      return step.emitOpError() << "cannot be cut before layer " << layer
                                << ": it has no nn.boundary of that layer, and stages begin at boundaries";
  return success();
}

/// Positions along the way forward and back. A boundary says its own; everything else is where the last of
/// its operands is.
LogicalResult StageAssignment::findStages() {
  const int last = 2 * cuts.stages() - 1;
  for (Operation &op : block.without_terminator()) {
    int latest = -1;
    for (Value operand : op.getOperands())
      latest = std::max(latest, positionOf(operand));
    if (auto boundary = dyn_cast<BoundaryOp>(op)) {
      auto layer = static_cast<int64_t>(boundary.getLayer());
      const int before = cuts.stageBefore(layer);
      int position = boundary.getBackward() ? last - before : cuts.stageBehind(layer);
      isTraining |= boundary.getBackward();
      if (latest > position)
        return boundary.emitOpError()
               << "of layer " << layer << " depends on stage " << stageAt(latest) << " and belongs to stage "
               << stageAt(position) << ", which comes before it";
      // What feeds the first layer depends on no other, and is the work of its stage.
      if (Operation *feeds = boundary.getOperand().getDefiningOp(); latest < 0 && feeds)
        positions[feeds] = boundary.getBackward() ? last - cuts.stageBehind(layer) : before;
      latest = position;
    }
    if (latest >= 0)
      positions[&op] = latest;
  }
  for (Operation &op : block.without_terminator())
    if (auto found = positions.find(&op); found != positions.end())
      members[stageAt(found->second)].push_back(&op);
  return success();
}

/// A value that another stage uses goes there from stage to stage: with the forwards to later ones, with the
/// backwards to earlier ones.
void StageAssignment::findMessages() {
  for (Operation &op : block.without_terminator()) {
    auto found = positions.find(&op);
    if (found == positions.end())
      continue;
    const int to = stageAt(found->second);
    for (Value operand : op.getOperands()) {
      int position = positionOf(operand);
      if (position < 0)
        continue;
      const int from = stageAt(position);
      for (int stage = from; stage < to; ++stage)
        toNext[stage].insert(operand);
      for (int stage = from; stage > to; --stage)
        toPrevious[stage].insert(operand);
    }
  }
}

/// The ops of `stage` that the roots depend on and that belong to no action yet.
void StageAssignment::assign(int stage, StageAction action, ArrayRef<Value> roots) {
  SmallVector<Value> work(roots);
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    auto found = positions.find(op);
    if (!op || found == positions.end() || stageAt(found->second) != stage || places.contains(op))
      continue;
    places[op] = {stage, action};
    llvm::append_range(work, op->getOperands());
  }
}

void StageAssignment::findActions() {
  auto carry = cast<CarryOp>(block.getTerminator());
  std::vector<SmallVector<Value>> forward(stages()), backward(stages()), rest(stages());
  for (int stage = 0; stage < stages(); ++stage) {
    llvm::append_range(forward[stage], toNext[stage]);
    llvm::append_range(backward[stage], toPrevious[stage]);
  }
  for (auto &[op, position] : positions) {
    if (auto boundary = dyn_cast<BoundaryOp>(op)) {
      if (boundary.getBackward())
        backward[stageAt(position)].push_back(boundary);
      else if (position == stages() - 1)
        forward[position].push_back(boundary);
    }
    // Caches are written going forward.
    if (auto write = dyn_cast<WriteOp>(op)) {
      places[op] = {stageAt(position), StageAction::Forward};
      forward[stageAt(position)].push_back(write.getValue());
    }
  }
  for (auto [name, value] :
       llvm::zip_equal(carry.getNames().getAsValueRange<StringAttr>(), carry.getValues()))
    if (int position = positionOf(value); position >= 0)
      (gradientOf(name) ? rest : isTraining ? backward : forward)[stageAt(position)].push_back(value);
  for (int stage = 0; stage < stages(); ++stage) {
    assign(stage, StageAction::Forward, forward[stage]);
    assign(stage, StageAction::BackwardInput, backward[stage]);
    assign(stage, StageAction::BackwardWeight, rest[stage]);
  }
}

} // namespace weft
