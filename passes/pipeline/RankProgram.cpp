#include "passes/pipeline/RankProgram.h"

#include "dialects/dist/Placement.h"
#include "passes/pipeline/StepSlots.h"
#include "passes/pipeline/TreeFolds.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

#include <map>
#include <set>

using namespace mlir;

namespace weft {
namespace {

using namespace weft::nn;
using schedules::Action;
using schedules::ActionKind;

class RankProgramWriter {
public:
  RankProgramWriter(ModuleOp module, const StepParts &parts, int rank)
      : parts(parts), plan(parts.plan), step(parts.plan.step), rank(rank), location(step.getLoc()),
        microbatches(static_cast<int64_t>(step.getMicrobatches())), inputs(inputsOf(step)),
        carry(cast<CarryOp>(step.getMicrobatch().front().getTerminator())),
        yield(cast<YieldOp>(step.getUpdate().front().getTerminator())),
        mesh(module->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute)),
        program(OpBuilder::atBlockEnd(module.getBody()), location, step.getSymName(), microbatches) {}

  void run() {
    for (const StageActionPlan &action : plan.actions())
      if (rankOf(action.stage) == rank)
        actions[{action.stage, action.kind}] = &action;
    phases = parts.update.opsOf(rank);
    findPrepared();
    findPrepareOps();
    findUpdateSlots();
    addSlots();
    writePrepare();
    for (const auto &[key, action] : actions)
      writeAction(*action);
    writeMessages();
    for (auto &[place, counter] : folds)
      counter.addActions();
    shareGradients();
    writeUpdate();
    addRuns("prepare");
    for (const schedules::PipelineEvent &event : parts.events[rank])
      addRuns(event);
    for (const std::string &name : lastActions)
      addRuns(name);
  }

private:
  using ActionKey = std::pair<int, ActionKind>;

  int rankOf(int stage) const { return plan.rankOf(stage); }
  OpBuilder &builder() { return program.builder; }

  //===-- what the rank has --------------------------------------------------===//

  /// Prepared values that this rank uses, by index.
  void findPrepared() {
    auto prepare = cast<YieldOp>(step.getPrepare().front().getTerminator());
    isPrepared.assign(prepare.getValues().size(), false);
    auto see = [&](Block &block, unsigned first, ArrayRef<Operation *> ops) {
      for (Operation *op : ops)
        for (Value operand : op->getOperands())
          if (auto argument = dyn_cast<BlockArgument>(operand);
              argument && argument.getOwner() == &block && argument.getArgNumber() >= first)
            isPrepared[argument.getArgNumber() - first] = true;
    };
    for (const auto &[key, action] : actions)
      see(step.getMicrobatch().front(), inputs.size(), action->ops);
    for (const std::vector<Operation *> &phase : phases)
      see(step.getUpdate().front(), carry.getValues().size(), phase);
    for (Value value : yield.getValues())
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && argument.getArgNumber() >= carry.getValues().size())
        isPrepared[argument.getArgNumber() - carry.getValues().size()] = true;
  }

  std::string carriedSlot(unsigned index) {
    return ("carried/" + cast<StringAttr>(carry.getNames()[index]).getValue()).str();
  }
  StringRef combinerOf(unsigned index) { return cast<StringAttr>(carry.getCombiners()[index]).getValue(); }
  std::optional<StringRef> gradientAt(unsigned index) {
    return gradientOf(cast<StringAttr>(carry.getNames()[index]).getValue());
  }
  /// Whether this rank adds it up, or is given the sum because it holds the parameter, too.
  bool hasCarried(unsigned index) {
    std::optional<StringRef> parameter = gradientAt(index);
    return plan.rankOfCarried(index) == rank || (parameter && parts.holders(*parameter).test(rank));
  }

  /// Inputs that some op of this rank reads.
  std::vector<bool> usedInputs() {
    std::vector<bool> used(inputs.size(), false);
    auto see = [&](Block &block, Operation *op) {
      for (Value operand : op->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand);
            argument && argument.getOwner() == &block && argument.getArgNumber() < inputs.size())
          used[argument.getArgNumber()] = true;
    };
    for (const auto &[key, action] : actions)
      for (Operation *op : action->ops)
        see(step.getMicrobatch().front(), op);
    for (Operation *op : prepareOps)
      see(step.getPrepare().front(), op);
    auto prepare = cast<YieldOp>(step.getPrepare().front().getTerminator());
    for (auto [index, value] : llvm::enumerate(prepare.getValues()))
      if (auto argument = dyn_cast<BlockArgument>(value); argument && isPrepared[index])
        used[argument.getArgNumber()] = true;
    for (const auto &[key, action] : actions)
      for (unsigned index : action->carried)
        if (auto argument = dyn_cast<BlockArgument>(carry.getOperand(index));
            argument && argument.getArgNumber() < inputs.size())
          used[argument.getArgNumber()] = true;
    return used;
  }

  void addSlots() {
    std::vector<bool> used = usedInputs();
    for (auto [index, input] : llvm::enumerate(inputs))
      if (used[index])
        program.addSlot(location, input.slot(), sched::SlotKind::input, input.part, input.perMicrobatch);
    auto prepare = cast<YieldOp>(step.getPrepare().front().getTerminator());
    for (auto [index, value] : llvm::enumerate(prepare.getValues()))
      if (isPrepared[index])
        program.addSlot(value.getLoc(), "prepared/" + Twine(index), sched::SlotKind::prepared,
                        value.getType());
    for (const auto &[key, action] : actions)
      addSlotsOf(*action);
    for (auto [index, value] : llvm::enumerate(carry.getValues()))
      if (hasCarried(index))
        program.addSlot(value.getLoc(), carriedSlot(index), sched::SlotKind::carried, value.getType());
    addFolds();
    for (auto [index, value] : llvm::enumerate(yield.getValues()))
      program.addSlot(value.getLoc(), outputSlot(index), sched::SlotKind::output, value.getType());
  }

  std::string outputSlot(size_t index) {
    return ("output/" + cast<StringAttr>((*yield.getNames())[index]).getValue()).str();
  }

  /// What the action leaves in flight, and what comes to its stage before it.
  void addSlotsOf(const StageActionPlan &action) {
    auto add = [&](Value value, int stage) {
      std::string slot = plan.slotOf(value, stage);
      if (inFlight.insert(slot).second)
        program.addSlot(value.getLoc(), slot, sched::SlotKind::in_flight, value.getType(), true);
    };
    for (Value value : action.stores)
      add(value, action.stage);
    for (int from : {action.stage - 1, action.stage + 1})
      for (Value value : plan.received(action.stage, from))
        add(value, action.stage);
  }

  /// A counter for what each half of a stage's backward carries by tree, whichever action computes it.
  void addFolds() {
    for (auto [index, value] : llvm::enumerate(carry.getValues())) {
      if (combinerOf(index) != "tree" || plan.rankOfCarried(index) != rank)
        continue;
      StagePlace place = plan.placeOfCarried(index);
      const char *half = place.action == StageAction::BackwardWeight ? "W."
                         : place.action == StageAction::Forward      ? "F."
                                                                     : "B.";
      auto [counter, isNew] = folds.try_emplace({place.stage, place.action}, program, microbatches,
                                                std::to_string(place.stage) + half);
      counter->second.addValue(carriedSlot(index), value);
    }
  }

  //===-- cloning -------------------------------------------------------------===//

  Value load(OpBuilder &at, Value like, const Twine &slot) {
    return sched::LoadOp::create(at, like.getLoc(), like.getType(), at.getStringAttr(slot), IntegerAttr());
  }

  void store(OpBuilder &at, Value value, const Twine &slot) {
    sched::StoreOp::create(at, value.getLoc(), at.getStringAttr(slot), value);
  }

  /// The value of an operand in an action that is being written: what was mapped, or a load of its slot.
  template <typename SlotOf> Value resolve(OpBuilder &at, IRMapping &mapping, Value value, SlotOf slotOf) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Value loaded = load(at, value, slotOf(value));
    mapping.map(value, loaded);
    return loaded;
  }

  template <typename SlotOf>
  void cloneOps(OpBuilder &at, IRMapping &mapping, ArrayRef<Operation *> ops, SlotOf slotOf) {
    for (Operation *op : ops) {
      for (Value operand : op->getOperands())
        resolve(at, mapping, operand, slotOf);
      at.clone(*op, mapping);
    }
  }

  OpBuilder addAction(const Twine &name, bool perMicrobatch) {
    return OpBuilder::atBlockEnd(&program.addEmptyAction(location, name, perMicrobatch));
  }

  //===-- prepare ---------------------------------------------------------------===//

  void findPrepareOps() {
    auto prepare = cast<YieldOp>(step.getPrepare().front().getTerminator());
    llvm::DenseSet<Operation *> needed;
    SmallVector<Value> work;
    for (auto [index, value] : llvm::enumerate(prepare.getValues()))
      if (isPrepared[index])
        work.push_back(value);
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (op && needed.insert(op).second)
        llvm::append_range(work, op->getOperands());
    }
    for (Operation &op : step.getPrepare().front())
      if (needed.contains(&op))
        prepareOps.push_back(&op);
  }

  void writePrepare() {
    OpBuilder at = addAction("prepare", false);
    IRMapping mapping;
    auto whole = [&](Value value) {
      if (!mapping.contains(value))
        mapping.map(value, loadWhole(at, value.getLoc(), inputs[cast<BlockArgument>(value).getArgNumber()],
                                     microbatches));
    };
    for (Operation *op : prepareOps) {
      for (Value operand : op->getOperands())
        whole(operand);
      at.clone(*op, mapping);
    }
    auto prepare = cast<YieldOp>(step.getPrepare().front().getTerminator());
    for (auto [index, value] : llvm::enumerate(prepare.getValues()))
      if (isPrepared[index]) {
        whole(value);
        store(at, mapping.lookup(value), "prepared/" + Twine(index));
      }
    for (auto [index, value] : llvm::enumerate(carry.getValues()))
      if (plan.rankOfCarried(index) == rank && accumulates(combinerOf(index), microbatches)) {
        ValueBuilder b(at, value.getLoc());
        store(at, neutralElement(b, combinerOf(index), tensorType(value)), carriedSlot(index));
      }
  }

  //===-- stages ----------------------------------------------------------------===//

  std::string slotAt(Value value, int stage) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return plan.slotOf(value, stage);
    size_t index = argument.getArgNumber();
    return index < inputs.size() ? inputs[index].slot() : ("prepared/" + Twine(index - inputs.size())).str();
  }

  void writeAction(const StageActionPlan &action) {
    OpBuilder at = addAction(action.name, true);
    IRMapping mapping;
    auto slotOf = [&](Value value) { return slotAt(value, action.stage); };
    cloneOps(at, mapping, action.ops, slotOf);
    for (Value value : action.stores)
      store(at, mapping.lookup(value), plan.slotOf(value, action.stage));
    for (unsigned index : action.carried) {
      Value value = resolve(at, mapping, carry.getOperand(index), slotOf);
      if (accumulates(combinerOf(index), microbatches))
        value = combineCarried(at, combinerOf(index), load(at, value, carriedSlot(index)), value);
      store(at, value, carriedSlot(index));
    }
  }

  ArrayAttr pipelineAxes() {
    SmallVector<Attribute> names;
    for (int64_t axis : mesh.axesOf("pipeline"))
      names.push_back(mesh.getNames()[axis]);
    return builder().getArrayAttr(names);
  }

  /// The stage that an action waits for a message from, and that which it gives one to.
  static int before(const StageActionPlan &action) {
    return action.kind == ActionKind::Forward ? action.stage - 1 : action.stage + 1;
  }
  static int behind(const StageActionPlan &action) {
    return action.kind == ActionKind::Forward ? action.stage + 1 : action.stage - 1;
  }

  void writeMessages() {
    for (const auto &[key, action] : actions) {
      if (action->kind == ActionKind::BackwardWeight)
        continue;
      if (int to = behind(*action); !receivedBy(to, action->stage).empty())
        writeSends(*action, to);
      if (int from = before(*action); !plan.received(action->stage, from).empty())
        writeReceives(*action, from);
    }
  }

  ArrayRef<Value> receivedBy(int stage, int from) const {
    return stage < 0 || stage >= plan.assignment().stages() ? ArrayRef<Value>() : plan.received(stage, from);
  }

  void writeSends(const StageActionPlan &action, int to) {
    OpBuilder sends = addAction(action.name + ".send", true);
    OpBuilder waits = addAction(action.name + ".send_wait", true);
    for (Value value : receivedBy(to, action.stage)) {
      std::string slot = plan.slotOf(value, action.stage);
      dist::SendOp::create(sends, value.getLoc(), load(sends, value, slot), rankOf(to), pipelineAxes());
      dist::SendWaitOp::create(waits, value.getLoc(), rankOf(to), pipelineAxes());
      sched::ReleaseOp::create(waits, value.getLoc(), waits.getStringAttr(slot));
    }
  }

  void writeReceives(const StageActionPlan &action, int from) {
    OpBuilder receives = addAction(action.name + ".receive", true);
    OpBuilder waits = addAction(action.name + ".receive_wait", true);
    for (Value value : plan.received(action.stage, from)) {
      Value received =
          dist::ReceiveOp::create(receives, value.getLoc(), value.getType(), rankOf(from), pipelineAxes());
      store(receives, received, plan.slotOf(value, action.stage));
      dist::ReceiveWaitOp::create(waits, value.getLoc(), rankOf(from), pipelineAxes());
    }
  }

  /// Of an action that runs once, if there is anything in it.
  void addRuns(StringRef name) {
    for (auto action : program.program.getBody().front().getOps<sched::ActionOp>())
      if (action.getName() == name) {
        if (!action.getBody().front().empty())
          return program.addRun(name);
        return action.erase();
      }
  }

  void addRuns(const schedules::PipelineEvent &event) {
    const Action &action = event.action;
    std::string name = std::to_string(action.stage) + std::string(letters(action.kind));
    switch (event.kind) {
    case schedules::PipelineEventKind::Compute:
      program.addRun(name, action.microbatch);
      for (auto &[place, counter] : folds)
        if (place.first == action.stage && actions.at({action.stage, action.kind})->covers(place.second))
          counter.addRunAfter(action.microbatch);
      return;
    case schedules::PipelineEventKind::Send:
      return program.addRun(name + ".send", action.microbatch);
    case schedules::PipelineEventKind::SendWait:
      return program.addRun(name + ".send_wait", action.microbatch);
    case schedules::PipelineEventKind::Receive:
      return program.addRun(name + ".receive", action.microbatch);
    case schedules::PipelineEventKind::ReceiveWait:
      return program.addRun(name + ".receive_wait", action.microbatch);
    }
  }

  //===-- update ----------------------------------------------------------------===//

  /// A parameter that several ranks hold has a sum of gradients for each use, on the rank of the use: the
  /// others are told, and all add the same.
  void shareGradients() {
    struct Sharing {
      unsigned index;
      int peer;
    };
    SmallVector<Sharing> sent, received;
    for (unsigned index = 0; index < carry.getValues().size(); ++index) {
      std::optional<StringRef> parameter = gradientAt(index);
      if (!parameter || !hasCarried(index))
        continue;
      const int owner = plan.rankOfCarried(index);
      for (unsigned holder : parts.holders(*parameter).set_bits())
        if (owner == rank && static_cast<int>(holder) != rank)
          sent.push_back({index, static_cast<int>(holder)});
        else if (owner != rank && static_cast<int>(holder) == rank)
          received.push_back({index, owner});
    }
    auto add = [&](StringRef name, ArrayRef<Sharing> list, auto write) {
      OpBuilder at = addAction(name, false);
      for (const Sharing &sharing : list)
        write(at, carry.getOperand(sharing.index), sharing);
      lastActions.push_back(name.str());
    };
    add("gradients.send", sent, [&](OpBuilder &at, Value value, const Sharing &sharing) {
      dist::SendOp::create(at, value.getLoc(), load(at, value, carriedSlot(sharing.index)), sharing.peer,
                           pipelineAxes());
    });
    add("gradients.receive", received, [&](OpBuilder &at, Value value, const Sharing &sharing) {
      store(at, dist::ReceiveOp::create(at, value.getLoc(), value.getType(), sharing.peer, pipelineAxes()),
            carriedSlot(sharing.index));
    });
    add("gradients.receive_wait", received, [&](OpBuilder &at, Value value, const Sharing &sharing) {
      dist::ReceiveWaitOp::create(at, value.getLoc(), sharing.peer, pipelineAxes());
    });
    add("gradients.send_wait", sent, [&](OpBuilder &at, Value value, const Sharing &sharing) {
      dist::SendWaitOp::create(at, value.getLoc(), sharing.peer, pipelineAxes());
    });
  }

  /// Where an update finds a value that another action of it, or another rank, computed.
  std::string updateSlot(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value); argument && parts.update.ranksOf(value).test(rank)) {
      size_t index = argument.getArgNumber();
      return index < carry.getValues().size() ? carriedSlot(static_cast<unsigned>(index))
                                              : ("prepared/" + Twine(index - carry.getValues().size())).str();
    }
    auto [found, isNew] = updateSlots.try_emplace(value, "update/" + std::to_string(updateSlots.size()));
    if (isNew)
      program.addSlot(value.getLoc(), found->second, sched::SlotKind::prepared, value.getType());
    return found->second;
  }

  /// Values of an earlier action that a later one, or an exchange, takes.
  void findUpdateSlots() {
    llvm::DenseMap<Value, size_t> phaseOf;
    for (auto [phase, ops] : llvm::enumerate(phases))
      for (Operation *op : ops)
        for (Value result : op->getResults())
          phaseOf.try_emplace(result, phase);
    auto need = [&](Value value, size_t phase) {
      auto found = phaseOf.find(value);
      bool isHere =
          found != phaseOf.end() && (found->second == phase || value.getDefiningOp()->getNumOperands() == 0);
      if (!isHere && !isa<BlockArgument>(value))
        kept.insert(value);
    };
    for (auto [phase, ops] : llvm::enumerate(phases))
      for (Operation *op : ops)
        for (Value operand : op->getOperands())
          need(operand, phase);
    for (Value value : yield.getValues())
      need(value, phases.size() - 1);
    for (int round = 0; round < parts.update.rounds(); ++round)
      for (Value value : parts.update.exchanged(round))
        kept.insert(value);
  }

  void writeUpdate() {
    auto suffix = [&](int round) { return parts.update.rounds() > 1 ? "_" + std::to_string(round) : ""; };
    for (int round = 0; round < parts.update.rounds(); ++round) {
      std::string local = "update.local" + suffix(round), exchange = "update.exchange" + suffix(round);
      OpBuilder at = addAction(local, false);
      writePhase(at, round);
      OpBuilder meets = addAction(exchange, false);
      writeExchange(meets, parts.update.exchanged(round));
      lastActions.push_back(local);
      lastActions.push_back(exchange);
    }
    OpBuilder at = addAction("update", false);
    IRMapping mapping = writePhase(at, parts.update.rounds());
    for (auto [index, value] : llvm::enumerate(yield.getValues()))
      store(at, resolve(at, mapping, value, [&](Value of) { return updateSlot(of); }), outputSlot(index));
    lastActions.push_back("update");
  }

  IRMapping writePhase(OpBuilder &at, int phase) {
    IRMapping mapping;
    SmallVector<Operation *> ops, writes;
    for (Operation *op : phases[phase])
      (isa<WriteOp>(op) ? writes : ops).push_back(op);
    auto slotOf = [&](Value value) { return updateSlot(value); };
    cloneOps(at, mapping, ops, slotOf);
    for (Operation *op : ops)
      for (Value result : op->getResults())
        if (kept.contains(result) && written.insert(result).second)
          store(at, mapping.lookup(result), updateSlot(result));
    cloneOps(at, mapping, writes, slotOf);
    return mapping;
  }

  /// A vector of a value's elements, pending as it is.
  static RankedTensorType flatType(int64_t elements, RankedTensorType of) {
    dist::Placement placement = dist::placementOf(of);
    placement.splits.assign(1, {});
    return dist::localType({elements}, of.getElementType(), placement);
  }

  static bool isSplit(Value value) {
    return llvm::any_of(dist::placementOf(value).splits,
                        [](const dist::Split &split) { return !split.axes.empty(); });
  }

  /// One sum over the pipeline for all values of one type that are pending alike: every rank has what it
  /// gives, and -0.0 elsewhere. A value of which ranks have parts goes alone.
  void writeExchange(OpBuilder &at, ArrayRef<Value> values) {
    llvm::MapVector<Type, SmallVector<Value>> vectors;
    for (Value value : values) {
      if (isSplit(value))
        exchangeParts(at, value);
      else
        vectors[flatType(1, tensorType(value))].push_back(value);
    }
    for (auto &[single, list] : vectors)
      exchangeVector(at, cast<RankedTensorType>(single), list);
  }

  /// The elements of the values one after another; what others give is one constant up to the next own value.
  void exchangeVector(OpBuilder &at, RankedTensorType of, ArrayRef<Value> values) {
    ValueBuilder b(at, location);
    SmallVector<Value> pieces;
    int64_t total = 0, others = 0;
    auto closeOthers = [&] {
      if (others > 0)
        pieces.push_back(neutralElement(b, "sum", flatType(others, of)));
      others = 0;
    };
    for (Value value : values) {
      int64_t elements = tensorType(value).getNumElements();
      total += elements;
      if (!gives(value)) {
        others += elements;
        continue;
      }
      closeOthers();
      pieces.push_back(
          ReshapeOp::create(at, location, flatType(elements, of), load(at, value, updateSlot(value))));
    }
    closeOthers();
    Value sum = pieces.size() == 1
                    ? pieces.front()
                    : ConcatenateOp::create(at, location, flatType(total, of), pieces, 0).getResult();
    sum = sumOverPipeline(at, sum);
    int64_t first = 0;
    for (Value value : values) {
      RankedTensorType type = tensorType(value);
      if (lacks(value)) {
        Value piece = SliceOp::create(at, location, flatType(type.getNumElements(), of), sum, ValueRange(),
                                      ArrayRef<int64_t>{first});
        store(at, ReshapeOp::create(at, location, type, piece), updateSlot(value));
      }
      first += type.getNumElements();
    }
  }

  /// A value of which each rank has its part.
  void exchangeParts(OpBuilder &at, Value value) {
    ValueBuilder b(at, location);
    Value own =
        gives(value) ? load(at, value, updateSlot(value)) : neutralElement(b, "sum", tensorType(value));
    Value sum = sumOverPipeline(at, own);
    if (lacks(value))
      store(at, sum, updateSlot(value));
  }

  bool gives(Value value) const { return parts.update.giverOf(value) == rank; }
  bool lacks(Value value) const { return !parts.update.ranksOf(value).test(rank); }

  Value sumOverPipeline(OpBuilder &at, Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    dist::Placement placement = dist::placementOf(type);
    placement.sum = dist::unite(placement.sum, mesh.axesOf("pipeline"));
    RankedTensorType pending = dist::withPlacement(type, placement);
    Value term = dist::TermOp::create(at, location, pending, value, pipelineAxes());
    auto token = dist::TokenType::get(at.getContext(), type);
    Value started =
        dist::AllReduceStartOp::create(at, location, token, dist::PendingKind::sum, term, pipelineAxes());
    return dist::WaitOp::create(at, location, type, started);
  }

  const StepParts &parts;
  const StepPlan &plan;
  StepOp step;
  int rank;
  Location location;
  int64_t microbatches;
  SmallVector<StepInput> inputs;
  CarryOp carry;
  YieldOp yield;
  dist::MeshAttr mesh;
  ProgramBuilder program;
  std::map<ActionKey, const StageActionPlan *> actions;
  std::map<std::pair<int, StageAction>, TreeFolds> folds;
  std::set<std::string> inFlight;
  std::vector<bool> isPrepared;
  std::vector<Operation *> prepareOps;
  std::vector<std::string> lastActions;         ///< behind the schedule, in order
  std::vector<std::vector<Operation *>> phases; ///< of the update
  ValueList kept;                               ///< between actions of the update
  llvm::DenseSet<Value> written;
  llvm::DenseMap<Value, std::string> updateSlots;
};

} // namespace

void writeRankProgram(ModuleOp module, const StepParts &parts, int rank) {
  RankProgramWriter(module, parts, rank).run();
}

} // namespace weft
