//===- Cut.cpp - Phases 7 and 9 of a pipeline: stages, their ranks, their order ---===//
//
// From one program to one for each pipeline rank. A function is a step of one microbatch that goes forward
// alone, so both are cut by the same rules.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/Schedule.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/pipeline/BalanceStages.h"
#include "passes/pipeline/RankProgram.h"
#include "passes/pipeline/VerifyMessages.h"
#include "passes/pipeline/schedules/ResolveSchedule.h"
#include "passes/pipeline/schedules/ScheduleText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <deque>
#include <functional>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_CUT
#define GEN_PASS_DEF_VERIFYMESSAGES
#include "passes/pipeline/Passes.h.inc"

namespace {

using namespace weft::nn;

std::string nameOf(DictionaryAttr attributes, size_t index) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>("nn.name"))
      return name.getValue().str();
  return std::to_string(index);
}

/// A function as a step of one microbatch: its arguments are inputs, its results are carried and yielded.
FailureOr<StepOp> stepOf(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "has " << function.getBody().getBlocks().size()
                                  << " blocks; a program is made of one";
  OpBuilder builder(function);
  Location location = function.getLoc();
  SmallVector<std::string> inputs, outputs;
  for (size_t index = 0; index < function.getNumArguments(); ++index)
    inputs.push_back(nameOf(function.getArgAttrDict(index), index));
  for (size_t index = 0; index < function.getNumResults(); ++index)
    outputs.push_back(nameOf(function.getResultAttrDict(index), index));
  SmallVector<StringRef> inputNames(inputs.begin(), inputs.end()),
      outputNames(outputs.begin(), outputs.end()), sums(outputs.size(), "sum");
  auto step =
      StepOp::create(builder, location, function.getSymName(), 1, builder.getStrArrayAttr(inputNames));
  SmallVector<Location> locations(function.getNumArguments(), location);
  builder.createBlock(&step.getPrepare(), {}, function.getArgumentTypes(), locations);
  YieldOp::create(builder, location, ArrayAttr(), ValueRange());
  step.getMicrobatch().takeBody(function.getBody());
  Operation *terminator = step.getMicrobatch().front().getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  builder.setInsertionPoint(terminator);
  CarryOp::create(builder, location, builder.getStrArrayAttr(outputNames), builder.getStrArrayAttr(sums),
                  results);
  terminator->erase();
  SmallVector<Location> resultLocations(results.size(), location);
  Block *update = builder.createBlock(&step.getUpdate(), {}, ValueRange(results).getTypes(), resultLocations);
  YieldOp::create(builder, location, builder.getStrArrayAttr(outputNames), update->getArguments());
  function.erase();
  return step;
}

/// Whether some stage runs BW for some microbatches, and B and W for others. It would have the same ops
/// twice: such a schedule runs B, then at once W.
bool mixesBackwards(const schedules::PipelineSchedule &schedule) {
  std::vector<bool> whole(schedule.stages()), halves(schedule.stages());
  for (const auto &list : schedule.actions)
    for (const schedules::Action &action : list) {
      if (action.kind == schedules::ActionKind::Backward)
        whole[action.stage] = true;
      else if (action.kind != schedules::ActionKind::Forward)
        halves[action.stage] = true;
    }
  for (int stage = 0; stage < schedule.stages(); ++stage)
    if (whole[stage] && halves[stage])
      return true;
  return false;
}

/// Every rank's stages in turn, forward alone, where the ranks have the stages of `like`.
schedules::PipelineSchedule forwardAlone(const schedules::PipelineSchedule &like, int microbatches) {
  schedules::PipelineSchedule schedule =
      schedules::makeSchedule("forward", like.ranks, like.chunks, microbatches, like.layout);
  for (int rank = 0; rank < like.ranks; ++rank)
    for (int microbatch = 0; microbatch < microbatches; ++microbatch)
      for (int chunk = 0; chunk < like.chunks; ++chunk)
        schedule.actions[rank].push_back(
            {like.stageOf(rank, chunk), schedules::ActionKind::Forward, microbatch});
  return schedule;
}

/// What the pass was asked for.
struct CutRequest {
  std::string schedule;
  StageCuts cuts;
  int stages = 0;                              ///< without cuts
  double memoryLimit = 0;                      ///< bytes of a rank; 0: none
  schedules::ActionTimes times = {0, 0, 0, 0}; ///< no work: by the costs of layers
};

class PipelineCutter {
public:
  PipelineCutter(ModuleOp module, CutRequest request)
      : module(module), request(std::move(request)), cuts(this->request.cuts), times(this->request.times),
        mesh(module->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute)) {}

  LogicalResult run() {
    ranks = mesh ? static_cast<int>(mesh.sizeOf(mesh.axesOf("pipeline"))) : 1;
    if (ranks < 2)
      return module.emitError() << "cut: the mesh has no pipeline; weft-schedule is for one stage";
    stages = request.stages > 0 ? request.stages : cuts.stages();
    if (stages % ranks != 0)
      return module.emitError() << "cut: " << stages << " stages on " << ranks
                                << " pipeline ranks; each rank has the same number of them";
    if (failed(collectSteps()) || failed(findCosts()) || failed(findSchedule()) || failed(findCuts()))
      return failure();
    for (StepOp step : steps)
      if (failed(planStep(step)))
        return failure();
    findHolders();
    for (int rank = 0; rank < ranks; ++rank)
      writeRank(rank);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*module.getBody())))
      if (!isa<ModuleOp>(op))
        op.erase();
    Builder builder(module.getContext());
    module->setAttr(sched::kScheduleAttribute, builder.getStringAttr(schedules::printSchedule(training)));
    module->setAttr(sched::kTimesAttribute,
                    builder.getDenseF64ArrayAttr(
                        {times.forward, times.backwardInput, times.backwardWeight, times.transfer}));
    return verifyMessages(module);
  }

private:
  struct Planned {
    schedules::PipelineSchedule schedule;
    std::optional<StepPlan> plan;
    std::vector<std::vector<schedules::PipelineEvent>> events;
    std::optional<UpdatePlan> update;
  };

  LogicalResult collectSteps() {
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        FailureOr<StepOp> step = stepOf(function);
        if (failed(step))
          return failure();
        steps.push_back(*step);
      } else if (auto step = dyn_cast<StepOp>(op)) {
        steps.push_back(step);
      }
    }
    return success();
  }

  static bool goesBack(StepOp step) {
    return llvm::any_of(step.getMicrobatch().front().getOps<BoundaryOp>(),
                        [](BoundaryOp boundary) { return boundary.getBackward(); });
  }

  /// Those of the step that trains, else of any.
  LogicalResult findCosts() {
    for (StepOp step : steps)
      if (!costed || goesBack(step))
        costed = step;
    if (!costed || (request.stages == 0 && times.work() > 0))
      return success();
    FailureOr<std::vector<LayerCost>> found = layerCosts(costed);
    if (failed(found))
      return failure();
    costs = *std::move(found);
    if (times.work() <= 0)
      times = timesOf(costs, ranks);
    return success();
  }

  /// The schedule of the step that trains; functions have its stages where it has them.
  LogicalResult findSchedule() {
    ScheduleRequest wanted;
    wanted.shape.ranks = ranks;
    wanted.shape.chunks = stages / ranks;
    wanted.times = times;
    const bool trains = costed && goesBack(costed);
    wanted.shape.microbatches = trains ? static_cast<int>(costed.getMicrobatches()) : ranks;
    absl::StatusOr<ResolvedSchedule> resolved = resolveSchedule(request.schedule, wanted);
    if (!resolved.ok())
      return module.emitError() << std::string(resolved.status().message());
    training = std::move(resolved->schedule);
    if (mixesBackwards(training))
      training = schedules::splitBackwards(std::move(training));
    if (training.ranks == ranks && training.chunks == wanted.shape.chunks &&
        (!trains || training.microbatches == wanted.shape.microbatches))
      return success();
    return module.emitError() << "cut: the schedule " << request.schedule << " is for " << training.ranks
                              << " ranks of " << training.chunks << " stages and " << training.microbatches
                              << " microbatches, the job has " << ranks << " ranks of " << wanted.shape.chunks
                              << " and " << wanted.shape.microbatches;
  }

  LogicalResult findCuts() {
    if (request.stages == 0 || !costed)
      return success();
    const std::vector<int> held = schedules::mostHeld(training);
    StageMemory memory;
    memory.limit = request.memoryLimit / training.chunks;
    memory.microbatchesHeld =
        static_cast<double>(*std::max_element(held.begin(), held.end())) / training.chunks;
    FailureOr<StageCuts> balanced = balanceStages(costed, costs, stages, memory);
    if (succeeded(balanced))
      cuts = *std::move(balanced);
    return balanced;
  }

  LogicalResult planStep(StepOp step) {
    Planned &planned = all.emplace_back();
    planned.schedule =
        goesBack(step) ? training : forwardAlone(training, static_cast<int>(step.getMicrobatches()));
    FailureOr<StepPlan> plan = StepPlan::of(step, cuts, planned.schedule);
    if (failed(plan))
      return failure();
    planned.plan.emplace(*std::move(plan));
    absl::StatusOr<std::vector<std::vector<schedules::PipelineEvent>>> events =
        schedules::orderMessages(planned.schedule, times, planned.plan->messages());
    if (!events.ok())
      return step.emitOpError() << std::string(events.status().message());
    planned.events = *std::move(events);
    return success();
  }

  /// A parameter is on every rank that reads it in some program; one that none reads on the last.
  void findHolders() {
    for (auto parameter : module.getOps<ParameterOp>()) {
      RankSet at(ranks);
      for (const Planned &planned : all)
        at |= planned.plan->readersOf(parameter.getSymName());
      if (at.none())
        at.set(training.rankOf(cuts.stages() - 1));
      holders[parameter.getSymName()] = at;
    }
    for (Planned &planned : all) {
      StepOp step = planned.plan->step;
      auto carry = cast<CarryOp>(step.getMicrobatch().front().getTerminator());
      std::vector<RankSet> given(step.getUpdate().getNumArguments(), RankSet(ranks, true));
      for (auto [index, name] : llvm::enumerate(carry.getNames().getAsValueRange<StringAttr>())) {
        given[index].reset();
        given[index].set(planned.plan->rankOfCarried(index));
        if (std::optional<StringRef> parameter = gradientOf(name))
          given[index] |= holders.lookup(*parameter);
      }
      planned.update.emplace(step, given, [&](StringRef name) { return holdersOf(name); }, ranks);
    }
  }

  RankSet holdersOf(StringRef variable) const {
    auto found = holders.find(variable);
    return found == holders.end() ? RankSet(ranks) : found->second;
  }

  void writeRank(int rank) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto own = ModuleOp::create(builder, module.getLoc(), "pipeline_rank_" + std::to_string(rank));
    own->setAttr(dist::kMeshAttribute, mesh);
    own->setAttr(sched::kPipelineRankAttribute, builder.getI64IntegerAttr(rank));
    auto holds = [&](StringRef name) { return holdersOf(name); };
    for (const Planned &planned : all)
      writeRankProgram(own, {*planned.plan, *planned.update, holds, planned.events}, rank);
    llvm::StringSet<> named;
    own.walk([&](Operation *op) {
      if (auto variable = op->getAttrOfType<FlatSymbolRefAttr>("variable"))
        named.insert(variable.getValue());
    });
    builder.setInsertionPointToStart(own.getBody());
    for (Operation &op : *module.getBody())
      if (isVariable(&op) && named.contains(SymbolTable::getSymbolName(&op).getValue()))
        builder.clone(op);
  }

  ModuleOp module;
  CutRequest request;
  StageCuts cuts;
  schedules::ActionTimes times;
  dist::MeshAttr mesh;
  int ranks = 1, stages = 1;
  SmallVector<StepOp> steps;
  StepOp costed;
  std::vector<LayerCost> costs;
  schedules::PipelineSchedule training;
  std::deque<Planned> all; ///< of each step
  llvm::StringMap<RankSet> holders;
};

class CutPass : public impl::CutBase<CutPass> {
public:
  using CutBase::CutBase;

  void runOnOperation() override {
    CutRequest request{schedule, {SmallVector<int64_t>(firstLayers.begin(), firstLayers.end())}};
    const SmallVector<int64_t> &first = request.cuts.firstLayers;
    if (std::adjacent_find(first.begin(), first.end(), std::greater_equal<>()) != first.end()) {
      getOperation().emitError() << "cut: first-layers ascend";
      return signalPassFailure();
    }
    request.stages = first.empty() ? static_cast<int>(stages) : 0;
    request.memoryLimit = memoryLimit;
    request.times = {forwardTime, backwardInputTime, backwardWeightTime, transferTime};
    if (failed(PipelineCutter(getOperation(), std::move(request)).run()))
      signalPassFailure();
  }
};

/// For programs that somebody wrote or changed by hand.
class VerifyMessagesPass : public impl::VerifyMessagesBase<VerifyMessagesPass> {
public:
  void runOnOperation() override {
    if (failed(verifyMessages(getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace weft
