//===- ProgramRun.cpp - Running sched.program: actions over slots -----------===//
//
// Actions run in the order of the program's runs. A load sees what a slot held when the action began; stores
// take effect when it ends, writes when the program does. A program that is written down rank by rank runs as
// several, side by side (PipelineRun.cpp): what goes in and comes out is that of the one that they are.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpret/Context.h"
#include "compiler/interpret/PipelinePrograms.h"

using namespace mlir;

namespace weft::interpret {

FailureOr<std::vector<Tensor>> Interpreter::run(sched::ProgramOp program, std::vector<Tensor> inputs,
                                                Variables &variables, std::vector<std::string> *written) {
  std::vector<sched::ProgramOp> programs = rankPrograms(program);
  if (failed(verifyRankPrograms(programs)))
    return failure();
  Ranks ranks = Ranks::of(program);
  Traffic traffic(ranks);
  std::deque<ProgramRun> runs;
  for (sched::ProgramOp one : programs) {
    ProgramRun &run = runs.emplace_back(one, variables, ranks);
    if (std::optional<int64_t> rank = pipelineRankOf(one))
      run.context.traffic = &traffic, run.context.pipelineRank = *rank;
    for (auto slot : one.getBody().front().getOps<sched::SlotOp>()) {
      bool isPerMicrobatch = slot.getKind() == sched::SlotKind::in_flight;
      run.context.slots[slot.getName()] = {
          slot.getKind(),
          SmallVector<SlotValue>(isPerMicrobatch ? static_cast<int64_t>(one.getMicrobatches()) : 1)};
    }
    for (auto action : one.getBody().front().getOps<sched::ActionOp>())
      run.actions[action.getName()] = action;
    llvm::append_range(run.runs, one.getBody().front().getOps<sched::RunOp>());
  }
  if (failed(fillInputs(programs, std::move(inputs), runs)) || failed(runSideBySide(runs)) ||
      failed(traffic.messages.verifyAllArrived()))
    return failure();
  FailureOr<std::vector<Tensor>> outputs = takeOutputs(programs, runs);
  if (failed(outputs) || failed(keepWrites(runs, variables, written)))
    return failure();
  return outputs;
}

LogicalResult Interpreter::fillInputs(ArrayRef<sched::ProgramOp> programs, std::vector<Tensor> inputs,
                                      std::deque<ProgramRun> &runs) const {
  sched::ProgramOp program = programs.front();
  std::vector<sched::SlotOp> slots = slotsOf(programs, sched::SlotKind::input);
  if (slots.size() > inputs.size())
    return program.emitOpError() << "takes more than " << inputs.size() << " inputs";
  if (slots.size() < inputs.size())
    return program.emitOpError() << "takes " << slots.size() << " inputs, not " << inputs.size();
  for (auto [slot, given] : llvm::zip_equal(slots, inputs)) {
    int64_t count = slot.getPerMicrobatch() ? static_cast<int64_t>(program.getMicrobatches()) : 1;
    if (slot.getPerMicrobatch() && (given.shape.empty() || given.shape[0] != count))
      return program.emitOpError() << "slot " << slot.getNameAttr() << " takes " << count
                                   << " stacked values, got " << given.type().str();
    SmallVector<SlotValue> values;
    for (int64_t microbatch = 0; microbatch < count; ++microbatch) {
      absl::StatusOr<Tensor> part = slot.getPerMicrobatch() ? partOfStack(given, microbatch) : given;
      if (!part.ok())
        return program.emitOpError() << std::string(part.status().message());
      FailureOr<MeshValue> entered = enter(program, "slot " + slot.getName(), slot.getType(),
                                           *std::move(part), runs.front().context.ranks);
      if (failed(entered))
        return failure();
      values.emplace_back(*std::move(entered));
    }
    for (ProgramRun &run : runs)
      if (auto found = run.context.slots.find(slot.getName());
          found != run.context.slots.end() && found->second.kind == sched::SlotKind::input)
        found->second.values = values;
  }
  return success();
}

/// What a program ends with, whole.
FailureOr<Tensor> Interpreter::leave(const ProgramRun &run, const Twine &what, Type type,
                                     const MeshValue &value) const {
  sched::ProgramOp program = run.program;
  if (run.context.traffic && run.context.ranks.dependsOnPipelineRank(type))
    return program.emitOpError() << what << " leaves the program split or pending over the pipeline axes: "
                                 << dist::describe(cast<RankedTensorType>(type));
  return leave(program, what, type, value, run.context.ranks);
}

namespace {
/// Several pipeline ranks end with the same value, if it has one name.
LogicalResult verifySame(Operation *op, const Twine &what, const Tensor &first, int64_t firstRank,
                         const Tensor &other, int64_t otherRank) {
  if (sameBits(first, other))
    return success();
  return op->emitOpError() << what << " ends with different values on pipeline ranks " << firstRank << " and "
                           << otherRank;
}
} // namespace

FailureOr<std::vector<Tensor>> Interpreter::takeOutputs(ArrayRef<sched::ProgramOp> programs,
                                                        std::deque<ProgramRun> &runs) const {
  if (observer)
    for (ProgramRun &run : runs)
      for (auto slot : run.program.getBody().front().getOps<sched::SlotOp>()) {
        const MeshValue &value = run.context.slots[slot.getName()].values.front().get();
        StringRef name = slot.getName();
        if (slot.getKind() == sched::SlotKind::carried && !value.empty() && name.consume_front("carried/"))
          observer->carried(name, slot.getType(), value, run.context.ranks);
      }
  std::vector<Tensor> outputs;
  for (sched::SlotOp slot : slotsOf(programs, sched::SlotKind::output)) {
    const ProgramRun *holder = nullptr;
    for (ProgramRun &run : runs) {
      auto found = run.context.slots.find(slot.getName());
      if (found == run.context.slots.end() || found->second.kind != sched::SlotKind::output)
        continue;
      const MeshValue &value = found->second.values.front().get();
      if (value.empty())
        return run.program.emitOpError() << "ends without a value in slot " << slot.getNameAttr();
      FailureOr<Tensor> whole = leave(run, "slot " + slot.getName(), slot.getType(), value);
      if (failed(whole) ||
          (holder && failed(verifySame(run.program, "slot " + slot.getName(), outputs.back(),
                                       holder->context.pipelineRank, *whole, run.context.pipelineRank))))
        return failure();
      if (holder)
        continue;
      holder = &run;
      outputs.push_back(*std::move(whole));
    }
  }
  return outputs;
}

/// All or none; a variable that several pipeline ranks hold ends alike on all of them.
LogicalResult Interpreter::keepWrites(std::deque<ProgramRun> &runs, Variables &variables,
                                      std::vector<std::string> *written) const {
  std::vector<WholeWrites> own;
  WholeWrites all;
  for (ProgramRun &run : runs) {
    WholeWrites &writes = own.emplace_back();
    for (auto &[name, write] : run.context.writes) {
      FailureOr<Tensor> whole = leave(run, "@" + name, write.type, write.value);
      if (failed(whole))
        return failure();
      writes[name] = *std::move(whole);
    }
    for (const auto &write : writes)
      all.insert(write);
  }
  for (auto &[name, value] : all) {
    const Tensor *first = nullptr;
    int64_t firstRank = 0;
    for (auto [run, writes] : llvm::zip_equal(runs, own)) {
      if (!SymbolTable::lookupSymbolIn(run.program->getParentOfType<ModuleOp>(), name))
        continue;
      auto change = writes.find(name);
      const Tensor &last = change == writes.end() ? variables.at(name.str()) : change->second;
      if (first &&
          failed(verifySame(run.program, "@" + name, *first, firstRank, last, run.context.pipelineRank)))
        return failure();
      if (!first)
        first = &last, firstRank = run.context.pipelineRank;
    }
  }
  keep(std::move(all), variables, written);
  return success();
}

} // namespace weft::interpret
