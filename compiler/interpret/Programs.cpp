#include "compiler/interpret/Programs.h"

#include "compiler/interpret/PipelinePrograms.h"
#include "passes/analysis/PipelineModules.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;

namespace weft::interpret {
namespace {

std::string nameOf(DictionaryAttr attributes, const char *otherwise, size_t index) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>("nn.name"))
      return name.getValue().str();
  return absl::StrCat(otherwise, index);
}

/// A slot's name without the prefix of its kind; those that have no name of their own are numbered.
std::string nameOf(sched::SlotOp slot, StringRef prefix, const char *otherwise) {
  StringRef name = slot.getName();
  name.consume_front(prefix);
  bool isNumber = !name.empty() && llvm::all_of(name, llvm::isDigit);
  return (isNumber ? otherwise : "") + name.str();
}

std::vector<ProgramInput> inputsOf(func::FuncOp function) {
  std::vector<ProgramInput> inputs;
  for (BlockArgument argument : function.getArguments()) {
    size_t index = argument.getArgNumber();
    inputs.push_back(
        {nameOf(function.getArgAttrDict(index), "arg", index), argument.getType(), 0, {argument}});
  }
  return inputs;
}

std::vector<ProgramInput> inputsOf(nn::StepOp step) {
  std::vector<ProgramInput> inputs;
  for (auto [index, name] : llvm::enumerate(step.getInputNames().getAsValueRange<StringAttr>())) {
    BlockArgument whole = step.getPrepare().getArgument(index);
    inputs.push_back({name.str(), whole.getType(), 0, {whole, step.getMicrobatch().getArgument(index)}});
  }
  return inputs;
}

std::vector<ProgramInput> inputsOf(sched::ProgramOp program) {
  std::vector<ProgramInput> inputs;
  std::vector<sched::ProgramOp> programs = rankPrograms(program);
  for (sched::SlotOp slot : slotsOf(programs, sched::SlotKind::input)) {
    ProgramInput input{nameOf(slot, "input/", "arg"),
                       placedType(slot),
                       slot.getPerMicrobatch() ? static_cast<int64_t>(program.getMicrobatches()) : 0,
                       {}};
    for (sched::ProgramOp one : programs)
      one.walk([&](sched::LoadOp load) {
        if (load.getSlot() == slot.getName())
          input.values.push_back(load.getResult());
      });
    inputs.push_back(std::move(input));
  }
  return inputs;
}

} // namespace

std::optional<TensorType> ProgramInput::wholeType() const {
  std::optional<TensorType> whole = wholeTypeOf(type);
  if (whole && stacked > 0)
    whole->shape.insert(whole->shape.begin(), stacked);
  return whole;
}

std::vector<Operation *> programsOf(ModuleOp module) {
  std::vector<Operation *> programs;
  std::set<std::string> known;
  for (ModuleOp own : pipelineModules(module))
    for (Operation &op : *own.getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (((function && !function.isExternal()) || isa<nn::StepOp, sched::ProgramOp>(op)) &&
          known.insert(programName(&op)).second)
        programs.push_back(&op);
    }
  return programs;
}

std::string programName(Operation *program) {
  if (auto scheduled = dyn_cast<sched::ProgramOp>(program))
    return scheduled.getName().str();
  return SymbolTable::getSymbolName(program).str();
}

std::vector<ProgramInput> inputsOf(Operation *program) {
  if (auto function = dyn_cast<func::FuncOp>(program))
    return inputsOf(function);
  if (auto step = dyn_cast<nn::StepOp>(program))
    return inputsOf(step);
  return inputsOf(cast<sched::ProgramOp>(program));
}

std::vector<std::string> outputNames(Operation *program) {
  std::vector<std::string> names;
  if (auto function = dyn_cast<func::FuncOp>(program)) {
    for (size_t index = 0; index < function.getNumResults(); ++index)
      names.push_back(nameOf(function.getResultAttrDict(index), "result", index));
    return names;
  }
  if (auto step = dyn_cast<nn::StepOp>(program)) {
    auto yield = cast<nn::YieldOp>(step.getUpdate().front().getTerminator());
    if (yield.getNames())
      for (StringRef name : yield.getNames()->getAsValueRange<StringAttr>())
        names.push_back(name.str());
    return names;
  }
  for (sched::SlotOp slot : slotsOf(rankPrograms(cast<sched::ProgramOp>(program)), sched::SlotKind::output))
    names.push_back(nameOf(slot, "output/", "result"));
  return names;
}

FailureOr<std::vector<Tensor>> runProgram(Interpreter &interpreter, Operation *program,
                                          std::vector<Tensor> inputs, Variables &variables,
                                          std::vector<std::string> *written) {
  if (auto function = dyn_cast<func::FuncOp>(program))
    return interpreter.run(function, std::move(inputs), variables, written);
  if (auto step = dyn_cast<nn::StepOp>(program))
    return interpreter.run(step, std::move(inputs), variables, written);
  return interpreter.run(cast<sched::ProgramOp>(program), std::move(inputs), variables, written);
}

} // namespace weft::interpret
