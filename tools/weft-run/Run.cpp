#include "tools/weft-run/Run.h"

#include "runtime/support/ExitCode.h"
#include "tools/weft-run/Generate.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <set>

using namespace mlir;

namespace weft::run {
namespace {

absl::Status configError(const std::string &message) {
  return withExitCode(absl::InvalidArgumentError(message), ExitCode::Config);
}

/// One input: its name, and the values that stand for it in the program.
struct Input {
  std::string name;
  Type type;
  SmallVector<Value> values;
};

std::string nameOf(Operation *program) { return SymbolTable::getSymbolName(program).str(); }

/// The functions with a body and the steps of the module.
absl::StatusOr<Operation *> chooseProgram(ModuleOp module, const std::string &wanted) {
  std::vector<Operation *> programs;
  std::vector<std::string> names;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!(function && !function.isExternal()) && !isa<nn::StepOp>(op))
      continue;
    if (nameOf(&op) == wanted)
      return &op;
    programs.push_back(&op);
    names.push_back(nameOf(&op));
  }
  std::string list = absl::StrJoin(names, ", ");
  if (programs.empty())
    return configError("the module has no function with a body and no step to run");
  if (!wanted.empty())
    return configError(
        absl::StrCat("--function ", wanted, ": there is no such function or step. There are: ", list));
  if (programs.size() > 1)
    return configError(
        absl::StrCat("the module has several functions or steps; choose one with --function: ", list));
  return programs.front();
}

std::vector<Input> inputsOf(Operation *program) {
  std::vector<Input> inputs;
  if (auto function = dyn_cast<func::FuncOp>(program)) {
    for (BlockArgument argument : function.getArguments())
      inputs.push_back({absl::StrCat("arg", argument.getArgNumber()), argument.getType(), {argument}});
    return inputs;
  }
  auto step = cast<nn::StepOp>(program);
  for (auto [index, name] : llvm::enumerate(step.getInputNames().getAsValueRange<StringAttr>())) {
    BlockArgument whole = step.getPrepare().getArgument(index);
    inputs.push_back({name.str(), whole.getType(), {whole, step.getMicrobatch().getArgument(index)}});
  }
  return inputs;
}

using Files = std::map<std::string, FileTensor>;

/// Every tensor of the files is an input or a variable.
absl::Status checkAllAreUsed(const Files &files, ArrayRef<Input> inputs,
                             const interpret::Variables &variables, Operation *program) {
  std::set<std::string> names;
  for (const Input &input : inputs)
    names.insert(input.name);
  for (const auto &[name, value] : variables)
    names.insert(name);
  for (const auto &[name, tensor] : files)
    if (!names.count(name))
      return configError(absl::StrCat(tensor.file, ": ", name, " is neither an input of @", nameOf(program),
                                      " nor a variable. There are: ", absl::StrJoin(names, ", ")));
  return absl::OkStatus();
}

absl::StatusOr<Tensor> valueOf(const Input &input, const Files &files, const Options &options) {
  std::optional<TensorType> type = interpret::tensorTypeOf(input.type);
  if (!type) {
    std::string text;
    llvm::raw_string_ostream(text) << input.type;
    return configError(absl::StrCat(input.name, " has a type that cannot be evaluated: ", text));
  }
  if (auto file = files.find(input.name); file != files.end())
    return convertTo(file->second, *type, input.name);
  absl::StatusOr<Tensor> tensor =
      generate(*type, input.name, options.seed, integerBound(input.values, options.integerBound));
  if (!tensor.ok())
    return configError(absl::StrCat(input.name, ": ", std::string(tensor.status().message())));
  return tensor;
}

/// A diagnostic has said why.
absl::Status alreadyReported() { return configError(""); }

} // namespace

absl::StatusOr<Outcome> runModule(ModuleOp module, const Options &options) {
  absl::StatusOr<Operation *> program = chooseProgram(module, options.function);
  if (!program.ok())
    return program.status();
  absl::StatusOr<Files> files = readTensors(options.inputs);
  if (!files.ok())
    return files.status();
  FailureOr<interpret::Variables> variables = interpret::initialVariables(module, options.seed);
  if (failed(variables))
    return alreadyReported();
  std::vector<Input> inputs = inputsOf(*program);
  if (absl::Status status = checkAllAreUsed(*files, inputs, *variables, *program); !status.ok())
    return status;
  for (auto &[name, value] : *variables)
    if (auto file = files->find(name); file != files->end()) {
      absl::StatusOr<Tensor> given = convertTo(file->second, value.type(), name);
      if (!given.ok())
        return given.status();
      value = *std::move(given);
    }
  std::vector<Tensor> arguments;
  for (const Input &input : inputs) {
    absl::StatusOr<Tensor> value = valueOf(input, *files, options);
    if (!value.ok())
      return value.status();
    arguments.push_back(*std::move(value));
  }

  Outcome outcome;
  interpret::Interpreter interpreter(options.types);
  if (auto function = dyn_cast<func::FuncOp>(*program)) {
    FailureOr<std::vector<Tensor>> results = interpreter.run(function, std::move(arguments), *variables);
    if (failed(results))
      return alreadyReported();
    for (auto [index, value] : llvm::enumerate(*results))
      outcome.results.push_back({absl::StrCat("result", index), std::move(value)});
    return outcome;
  }
  auto step = cast<nn::StepOp>(*program);
  std::vector<std::string> written;
  FailureOr<std::vector<Tensor>> results = interpreter.run(step, std::move(arguments), *variables, &written);
  if (failed(results))
    return alreadyReported();
  auto yield = cast<nn::YieldOp>(step.getUpdate().front().getTerminator());
  if (yield.getNames())
    for (auto [name, value] : llvm::zip_equal(yield.getNames()->getAsValueRange<StringAttr>(), *results))
      outcome.results.push_back({name.str(), std::move(value)});
  for (const std::string &name : written)
    outcome.variables.push_back({name, variables->at(name)});
  return outcome;
}

} // namespace weft::run
