#include "tools/weft-run/Run.h"

#include "compiler/interpret/InputValues.h"
#include "compiler/interpret/Programs.h"
#include "compiler/validate/VirtualRanks.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <set>

using namespace mlir;

namespace weft::run {
namespace {

using interpret::ProgramInput;

absl::Status configError(const std::string &message) {
  return withExitCode(absl::InvalidArgumentError(message), ExitCode::Config);
}

/// One of the module's programs, by name if it has several.
absl::StatusOr<Operation *> chooseProgram(ModuleOp module, const std::string &wanted) {
  std::vector<Operation *> programs = interpret::programsOf(module);
  std::vector<std::string> names;
  for (Operation *program : programs) {
    names.push_back(interpret::programName(program));
    if (names.back() == wanted)
      return program;
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

using Files = std::map<std::string, FileTensor>;

/// Every tensor of the files is an input or a variable.
absl::Status checkAllAreUsed(const Files &files, ArrayRef<ProgramInput> inputs,
                             const interpret::Variables &variables, Operation *program) {
  std::set<std::string> names;
  for (const ProgramInput &input : inputs)
    names.insert(input.name);
  for (const auto &[name, value] : variables)
    names.insert(name);
  for (const auto &[name, tensor] : files)
    if (!names.count(name))
      return configError(absl::StrCat(tensor.file, ": ", name, " is neither an input of @",
                                      interpret::programName(program),
                                      " nor a variable. There are: ", absl::StrJoin(names, ", ")));
  return absl::OkStatus();
}

absl::StatusOr<Tensor> valueOf(const ProgramInput &input, const Files &files, const Options &options) {
  std::optional<TensorType> type = input.wholeType();
  if (!type) {
    std::string text;
    llvm::raw_string_ostream(text) << input.type;
    return configError(absl::StrCat(input.name, " has a type that cannot be evaluated: ", text));
  }
  if (auto file = files.find(input.name); file != files.end())
    return convertTo(file->second, *type, input.name);
  absl::StatusOr<Tensor> tensor = interpret::generate(
      *type, input.name, options.seed, interpret::integerBound(input.values, options.integerBound));
  if (!tensor.ok())
    return configError(absl::StrCat(input.name, ": ", std::string(tensor.status().message())));
  return tensor;
}

/// A diagnostic has said why.
absl::Status alreadyReported() { return configError(""); }

absl::StatusOr<std::vector<Tensor>> evaluate(interpret::Types types, Operation *program,
                                             std::vector<Tensor> arguments, interpret::Variables &variables,
                                             std::vector<std::string> &written) {
  interpret::Interpreter interpreter(types);
  FailureOr<std::vector<Tensor>> results =
      interpret::runProgram(interpreter, program, std::move(arguments), variables, &written);
  if (failed(results))
    return alreadyReported();
  return *std::move(results);
}

/// Of a program that is launches of kernels.
absl::StatusOr<std::vector<Tensor>> execute(ModuleOp module, Operation *program,
                                            std::vector<Tensor> arguments, interpret::Variables &variables,
                                            std::vector<std::string> &written) {
  absl::StatusOr<std::vector<Executable>> parts = partsOf(module);
  if (!parts.ok())
    return withExitCode(parts.status(), ExitCode::Config);
  std::vector<std::vector<Tensor>> runs;
  runs.push_back(std::move(arguments));
  absl::StatusOr<std::vector<std::vector<Tensor>>> results =
      runOnVirtualRanks(*parts, program, runs, variables);
  if (!results.ok())
    return results.status();
  written = writtenBy(program);
  return std::move(results->front());
}

} // namespace

absl::StatusOr<Outcome> runModule(ModuleOp module, const Options &options) {
  absl::StatusOr<Operation *> program = chooseProgram(module, options.function);
  if (!program.ok())
    return program.status();
  Outcome outcome;
  outcome.types =
      isFused(*program) ? interpret::Types::Declared : options.types.value_or(interpret::Types::Exact);
  if (options.types && *options.types != outcome.types)
    return configError("--types exact: the program has been through `fuse`; it is launches of kernels, which "
                       "round to its types. Leave the option out, or run the program before `fuse`");
  absl::StatusOr<Files> files = readTensors(options.inputs);
  if (!files.ok())
    return files.status();
  FailureOr<interpret::Variables> variables = interpret::initialVariables(module, options.seed);
  if (failed(variables))
    return alreadyReported();
  std::vector<ProgramInput> inputs = interpret::inputsOf(*program);
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
  for (const ProgramInput &input : inputs) {
    absl::StatusOr<Tensor> value = valueOf(input, *files, options);
    if (!value.ok())
      return value.status();
    arguments.push_back(*std::move(value));
  }

  std::vector<std::string> written;
  absl::StatusOr<std::vector<Tensor>> results =
      isFused(*program) ? execute(module, *program, std::move(arguments), *variables, written)
                        : evaluate(outcome.types, *program, std::move(arguments), *variables, written);
  if (!results.ok())
    return results.status();
  for (auto [name, value] : llvm::zip_equal(interpret::outputNames(*program), *results))
    outcome.results.push_back({name, std::move(value)});
  for (const std::string &name : written)
    outcome.variables.push_back({name, variables->at(name)});
  return outcome;
}

} // namespace weft::run
