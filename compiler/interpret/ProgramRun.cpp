//===- ProgramRun.cpp - Running sched.program: actions over slots -----------===//
//
// Actions run in the order of the program's runs. A load sees what a slot held when the action began; stores
// take effect when it ends, writes when the program does.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpret/Context.h"

using namespace mlir;

namespace weft::interpret {

FailureOr<std::vector<Tensor>> Interpreter::run(sched::ProgramOp program, std::vector<Tensor> inputs,
                                                Variables &variables, std::vector<std::string> *written) {
  Context context{variables, Ranks::of(program)};
  SmallVector<sched::SlotOp> slots(program.getBody().front().getOps<sched::SlotOp>());
  size_t next = 0;
  for (sched::SlotOp slot : slots) {
    Slot &entry = context.slots[slot.getName()];
    entry = {slot.getType(), {MeshValue()}};
    if (slot.getKind() != sched::SlotKind::input)
      continue;
    if (next == inputs.size())
      return program.emitOpError() << "takes more than " << inputs.size() << " inputs";
    Tensor given = std::move(inputs[next++]);
    int64_t count = slot.getPerMicrobatch() ? static_cast<int64_t>(program.getMicrobatches()) : 1;
    if (slot.getPerMicrobatch() && (given.shape.empty() || given.shape[0] != count))
      return program.emitOpError() << "slot " << slot.getNameAttr() << " takes " << count
                                   << " stacked values, got " << given.type().str();
    entry.values.clear();
    for (int64_t microbatch = 0; microbatch < count; ++microbatch) {
      absl::StatusOr<Tensor> part = slot.getPerMicrobatch() ? partOfStack(given, microbatch) : given;
      if (!part.ok())
        return program.emitOpError() << std::string(part.status().message());
      FailureOr<MeshValue> entered =
          enter(program, "slot " + slot.getName(), slot.getType(), *std::move(part), context.ranks);
      if (failed(entered))
        return failure();
      entry.values.push_back(*std::move(entered));
    }
  }
  if (next != inputs.size())
    return program.emitOpError() << "takes " << next << " inputs, not " << inputs.size();

  llvm::StringMap<sched::ActionOp> actions;
  for (auto action : program.getBody().front().getOps<sched::ActionOp>())
    actions[action.getName()] = action;
  for (auto run : program.getBody().front().getOps<sched::RunOp>()) {
    context.microbatch = run.getMicrobatch().value_or(0);
    if (failed(runBlock(actions[run.getAction()].getBody().front(), {}, context)))
      return failure();
    for (auto &[name, value] : context.stores)
      context.slots[name].values = {value};
    context.stores.clear();
  }

  std::vector<Tensor> outputs;
  for (sched::SlotOp slot : slots) {
    const MeshValue &value = context.slots[slot.getName()].values.front();
    if (slot.getKind() == sched::SlotKind::input || value.empty())
      continue;
    StringRef name = slot.getName();
    if (observer && slot.getKind() == sched::SlotKind::carried && name.consume_front("carried/"))
      observer->carried(name, slot.getType(), value, context.ranks);
    if (slot.getKind() != sched::SlotKind::output)
      continue;
    FailureOr<Tensor> whole = leave(program, "slot " + slot.getName(), slot.getType(), value, context.ranks);
    if (failed(whole))
      return failure();
    outputs.push_back(*std::move(whole));
  }
  if (failed(keepWrites(program, context, variables, written)))
    return failure();
  return outputs;
}

} // namespace weft::interpret
