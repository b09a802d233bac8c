#include "passes/pipeline/StepPlan.h"

#include "passes/pipeline/StepSlots.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace mlir;

namespace weft {

using namespace weft::nn;
using schedules::ActionKind;

bool StageActionPlan::covers(StageAction action) const {
  switch (kind) {
  case ActionKind::Forward:
    return action == StageAction::Forward;
  case ActionKind::BackwardInput:
    return action == StageAction::BackwardInput;
  case ActionKind::BackwardWeight:
    return action == StageAction::BackwardWeight;
  case ActionKind::Backward:
    return action != StageAction::Forward;
  }
  return false;
}

FailureOr<StepPlan> StepPlan::of(StepOp step, const StageCuts &cuts,
                                 const schedules::PipelineSchedule &schedule) {
  FailureOr<StageAssignment> places = StageAssignment::of(step, cuts);
  if (failed(places))
    return failure();
  StepPlan plan(step, *std::move(places), schedule);
  int64_t index = 0;
  for (Operation &op : step.getMicrobatch().front())
    plan.order[&op] = index++;
  plan.placeCarried();
  plan.makeActions();
  plan.connect();
  plan.findReaders();
  plan.nameSlots();
  return plan;
}

/// What is carried and belongs to no stage (the gradient of a parameter that nothing reads) is the last
/// one's.
void StepPlan::placeCarried() {
  auto carry = cast<CarryOp>(step.getMicrobatch().front().getTerminator());
  StagePlace otherwise{places.stages() - 1,
                       places.hasBackward() ? StageAction::BackwardInput : StageAction::Forward};
  for (Value value : carry.getValues())
    carriedAt.push_back(places.placeOf(value).value_or(otherwise));
}

void StepPlan::makeActions() {
  std::set<std::pair<int, ActionKind>> used;
  for (const auto &list : schedule->actions)
    for (const schedules::Action &action : list)
      used.insert({action.stage, action.kind});
  for (auto [stage, kind] : used) {
    StageActionPlan plan{std::to_string(stage) + std::string(letters(kind)), stage, kind};
    for (auto [index, place] : llvm::enumerate(carriedAt))
      if (place.stage == stage && plan.covers(place.action))
        plan.carried.push_back(static_cast<unsigned>(index));
    fill(plan);
    plans.push_back(std::move(plan));
  }
}

/// The ops that belong to the action, and what of no stage they need.
void StepPlan::fill(StageActionPlan &plan) {
  llvm::SetVector<Operation *> ops;
  Operation *carry = step.getMicrobatch().front().getTerminator();
  SmallVector<Operation *> work;
  for (Operation &op : step.getMicrobatch().front())
    if (auto place = places.placeOf(&op); place && place->stage == plan.stage && plan.covers(place->action))
      work.push_back(&op);
  for (unsigned index : plan.carried)
    if (Operation *op = carry->getOperand(index).getDefiningOp())
      work.push_back(op);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!ops.insert(op))
      continue;
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer)
        continue;
      auto place = places.placeOf(producer);
      // A boundary gives what it takes: it costs nothing here, and a slot of its own would hold that twice.
      if (!place || (isa<BoundaryOp>(producer) && place->stage == plan.stage))
        work.push_back(producer);
      else if (place->stage != plan.stage || !plan.covers(place->action))
        plan.loads.insert(operand);
    }
  }
  plan.ops.assign(ops.begin(), ops.end());
  llvm::sort(plan.ops,
             [&](Operation *left, Operation *right) { return order.lookup(left) < order.lookup(right); });
  // Loads in the order of the block, whatever led to them.
  SmallVector<Value> loads(plan.loads.getArrayRef());
  auto placeInBlock = [&](Value value) {
    return std::pair(order.lookup(value.getDefiningOp()), cast<OpResult>(value).getResultNumber());
  };
  llvm::sort(loads, [&](Value left, Value right) { return placeInBlock(left) < placeInBlock(right); });
  plan.loads = ValueList(loads.begin(), loads.end());
}

/// What an action computes and another one loads, or a message takes, it stores.
void StepPlan::connect() {
  for (StageActionPlan &producer : plans) {
    llvm::DenseSet<Value> wanted;
    wanted.insert_range(places.sentForward(producer.stage));
    wanted.insert_range(places.sentBackward(producer.stage));
    // BW does for a microbatch what else B and W do: it leaves nothing to W.
    for (const StageActionPlan &consumer : plans)
      if (consumer.stage != producer.stage || producer.kind == ActionKind::Forward ||
          (producer.kind == ActionKind::BackwardInput && consumer.kind == ActionKind::BackwardWeight))
        wanted.insert_range(consumer.loads);
    for (Operation *op : producer.ops)
      if (places.placeOf(op))
        for (Value result : op->getResults())
          if (wanted.contains(result))
            producer.stores.insert(result);
  }
}

/// A stage reads a variable itself, or takes what prepare made of it.
void StepPlan::findReaders() {
  SmallVector<SmallVector<StringRef>> prepared = preparedVariables(step);
  const size_t inputs = step.getInputNames().size();
  auto add = [&](StringRef variable, int stage) {
    readers.try_emplace(variable, llvm::SmallBitVector(schedule->ranks))
        .first->second.set(schedule->rankOf(stage));
  };
  for (const StageActionPlan &plan : plans)
    for (Operation *op : plan.ops) {
      if (auto read = dyn_cast<ReadOp>(op))
        add(read.getVariable(), plan.stage);
      for (Value operand : op->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand); argument && argument.getArgNumber() >= inputs)
          for (StringRef variable : prepared[argument.getArgNumber() - inputs])
            add(variable, plan.stage);
    }
}

void StepPlan::nameSlots() {
  std::map<std::pair<int, StageAction>, SmallVector<Value>> byPlace;
  for (Operation &op : step.getMicrobatch().front().without_terminator())
    for (Value result : op.getResults())
      if (llvm::any_of(plans, [&](const StageActionPlan &plan) { return plan.stores.contains(result); })) {
        StagePlace place = *places.placeOf(&op);
        byPlace[{place.stage, place.action}].push_back(result);
      }
  for (auto &[place, values] : byPlace)
    for (auto [index, value] : llvm::enumerate(values)) {
      const char *name = place.second == StageAction::Forward         ? "forward"
                         : place.second == StageAction::BackwardInput ? "backward_input"
                                                                      : "backward_weight";
      slots[value] = ("stage_" + Twine(place.first) + "/" + name + "/" + Twine(index)).str();
    }
}

std::string StepPlan::slotOf(Value value, int stage) const {
  const int home = places.placeOf(value)->stage;
  if (home == stage)
    return slots.lookup(value);
  const int from = home < stage ? stage - 1 : stage + 1;
  ArrayRef<Value> list = received(stage, from);
  if (list.empty())
    return slotOf(value, from);
  return ("stage_" + Twine(stage) + "/from_" + Twine(from) + "/" +
          Twine(llvm::find(list, value) - list.begin()))
      .str();
}

ArrayRef<Value> StepPlan::received(int stage, int from) const {
  if (from < 0 || from >= places.stages() || schedule->rankOf(stage) == schedule->rankOf(from))
    return {};
  return (from < stage ? places.sentForward(from) : places.sentBackward(from)).getArrayRef();
}

schedules::StageMessages StepPlan::messages() const {
  schedules::StageMessages messages;
  for (int stage = 0; stage < places.stages(); ++stage) {
    messages.toNext.push_back(!received(stage + 1 == places.stages() ? -1 : stage + 1, stage).empty());
    messages.toPrevious.push_back(stage > 0 && !received(stage - 1, stage).empty());
  }
  return messages;
}

llvm::SmallBitVector StepPlan::readersOf(StringRef variable) const {
  auto found = readers.find(variable);
  return found == readers.end() ? llvm::SmallBitVector(schedule->ranks) : found->second;
}

} // namespace weft
