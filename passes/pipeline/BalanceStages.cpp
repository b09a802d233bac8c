#include "passes/pipeline/BalanceStages.h"

#include "passes/pipeline/StepSlots.h"

#include "llvm/ADT/DenseSet.h"

#include <limits>

using namespace mlir;

namespace weft {
namespace {

using namespace weft::nn;

/// Every boundary that goes forward begins a layer.
StageCuts everyLayer(StepOp step) {
  StageCuts cuts;
  for (auto boundary : step.getMicrobatch().front().getOps<BoundaryOp>())
    if (!boundary.getBackward())
      cuts.firstLayers.push_back(static_cast<int64_t>(boundary.getLayer()));
  llvm::sort(cuts.firstLayers);
  cuts.firstLayers.erase(llvm::unique(cuts.firstLayers), cuts.firstLayers.end());
  return cuts;
}

class CostSum {
public:
  CostSum(StepOp step, const StageAssignment &places, const StageCuts &cuts)
      : places(places), layers(places.stages()), inputs(step.getInputNames().size()) {
    for (auto [index, names] : llvm::enumerate(preparedVariables(step))) {
      Value value = step.getMicrobatch().getArgument(inputs + index);
      if (!names.empty())
        preparedBytes[value] = byteSize(tensorType(value));
    }
    for (auto [index, first] : llvm::enumerate(cuts.firstLayers))
      layers[index + 1].firstLayer = first;
  }

  std::vector<LayerCost> run(Block &block) {
    for (Operation &op : block.without_terminator())
      if (std::optional<StagePlace> place = places.placeOf(&op))
        add(op, *place);
    return std::move(layers);
  }

private:
  void add(Operation &op, StagePlace place) {
    LayerCost &layer = layers[place.stage];
    if (auto costed = dyn_cast<CostOpInterface>(op))
      (place.action == StageAction::Forward         ? layer.forward
       : place.action == StageAction::BackwardInput ? layer.backwardInput
                                                    : layer.backwardWeight) +=
          static_cast<double>(costed.flops());
    for (Value operand : op.getOperands())
      addParameters(operand, place.stage);
    if (place.action != StageAction::Forward || isa<BoundaryOp>(op))
      return;
    for (Value result : op.getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            std::optional<StagePlace> at = places.placeOf(user);
            return at && at->stage == place.stage && at->action != StageAction::Forward;
          }))
        layer.residualBytes += byteSize(tensorType(result));
  }

  /// A variable that the operand is, or is made of alone.
  void addParameters(Value operand, int stage) {
    Operation *op = operand.getDefiningOp();
    auto read = dyn_cast_or_null<ReadOp>(op);
    const int64_t bytes = read ? byteSize(tensorType(operand)) : preparedBytes.lookup(operand);
    if (bytes > 0 && counted.insert({stage, operand}).second)
      layers[stage].parameterBytes += bytes;
    if (!op || places.placeOf(op))
      return;
    for (Value inner : op->getOperands())
      addParameters(inner, stage);
  }

  const StageAssignment &places;
  std::vector<LayerCost> layers;
  size_t inputs;
  llvm::DenseMap<Value, int64_t> preparedBytes; ///< of what prepare makes of variables
  llvm::DenseSet<std::pair<int, Value>> counted;
};

/// Least costliest stage by dynamic programming: best[s][n] is that of the first n layers in s stages.
class Balancer {
public:
  Balancer(ArrayRef<LayerCost> layers, const StageMemory &memory) : layers(layers), memory(memory) {
    sums.push_back(LayerCost());
    for (const LayerCost &layer : layers) {
      LayerCost next = sums.back();
      next.forward += layer.work();
      next.parameterBytes += layer.parameterBytes;
      next.residualBytes += layer.residualBytes;
      sums.push_back(next);
    }
  }

  /// How many layers come before each stage after the first; empty if none is within the memory.
  SmallVector<size_t> run(size_t stages) {
    const double never = std::numeric_limits<double>::infinity();
    const size_t count = layers.size();
    std::vector<std::vector<double>> best(stages + 1, std::vector<double>(count + 1, never));
    std::vector<std::vector<size_t>> from(stages + 1, std::vector<size_t>(count + 1, 0));
    best[0][0] = 0;
    for (size_t stage = 1; stage <= stages; ++stage)
      for (size_t end = stage; end <= count; ++end)
        for (size_t begin = stage - 1; begin < end; ++begin)
          if (double cost = std::max(best[stage - 1][begin], costOf(begin, end)); cost <= best[stage][end])
            if (cost < never)
              best[stage][end] = cost, from[stage][end] = begin;
    SmallVector<size_t> begins;
    if (best[stages][count] == never)
      return begins;
    for (size_t stage = stages, end = count; stage > 1; --stage) {
      end = from[stage][end];
      begins.insert(begins.begin(), end);
    }
    return begins;
  }

private:
  double costOf(size_t begin, size_t end) const {
    const LayerCost &before = sums[begin], &behind = sums[end];
    double bytes = memory.copies * static_cast<double>(behind.parameterBytes - before.parameterBytes) +
                   memory.microbatchesHeld * static_cast<double>(behind.residualBytes - before.residualBytes);
    if (memory.limit > 0 && bytes > memory.limit)
      return std::numeric_limits<double>::infinity();
    return behind.forward - before.forward;
  }

  ArrayRef<LayerCost> layers;
  const StageMemory &memory;
  std::vector<LayerCost> sums; ///< of the first layers; all work as forward
};

} // namespace

FailureOr<std::vector<LayerCost>> layerCosts(StepOp step) {
  StageCuts cuts = everyLayer(step);
  FailureOr<StageAssignment> places = StageAssignment::of(step, cuts);
  if (failed(places))
    return failure();
  return CostSum(step, *places, cuts).run(step.getMicrobatch().front());
}

schedules::ActionTimes timesOf(ArrayRef<LayerCost> layers, int ranks) {
  schedules::ActionTimes times{0, 0, 0, 0};
  for (const LayerCost &layer : layers) {
    times.forward += layer.forward / ranks;
    times.backwardInput += layer.backwardInput / ranks;
    times.backwardWeight += layer.backwardWeight / ranks;
  }
  if (times.work() <= 0)
    return {};
  times.transfer = times.work() / 20;
  return times;
}

FailureOr<StageCuts> balanceStages(StepOp step, ArrayRef<LayerCost> layers, int stages,
                                   const StageMemory &memory) {
  if (layers.size() < static_cast<size_t>(stages))
    return step.emitOpError() << "has " << layers.size() << " layers, embedding and head counted, for "
                              << stages << " stages; each needs one at least";
  SmallVector<size_t> begins = Balancer(layers, memory).run(stages);
  if (begins.empty() && stages > 1)
    begins = Balancer(layers, StageMemory()).run(stages);
  StageCuts cuts;
  for (size_t begin : begins)
    cuts.firstLayers.push_back(layers[begin].firstLayer);
  return cuts;
}

} // namespace weft
