//===- main.cpp - weft-run: what a program means ----------------------------===//
//
// Executes any program and shows its results, whole: before `fuse` with the float64 reference, behind it with
// the executor; one in the local view of a mesh runs on virtual ranks. The command line is here; the run
// itself is Run.cpp. Exit codes are those of docs/exit_codes.md.
//
//===----------------------------------------------------------------------===//
#include "compiler/validate/Sabotage.h"
#include "runtime/support/ExitCode.h"
#include "tools/weft-run/Check.h"
#include "tools/weft-run/Run.h"
#include "tools/weft-run/Summary.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

#include "absl/strings/str_cat.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace {
using namespace weft;

struct CommandLine {
  std::string file;
  run::Options options;
  std::string types;
  std::string output;
  bool print = false;
  bool checkPhases = false;
  run::CheckOptions check;
};

void declareOptions(CLI::App &app, CommandLine &line) {
  app.set_version_flag("--version", "weft-run " WEFT_VERSION);
  app.add_option("FILE", line.file,
                 "The program: .mlir text or bytecode, - for standard input; with --check-phases also a run "
                 "file (.yaml)")
      ->required();
  app.add_option("--function", line.options.function,
                 "The func.func, nn.step or sched.program to run; default: the only one");
  app.add_option(
      "--input", line.options.inputs,
      "NAME=FILE.npy, or FILE.safetensors for all its tensors. Names are arg0, arg1, ... of a function, the "
      "input names of a step, and symbols of parameters and states. May be repeated");
  app.add_option(
         "--seed", line.options.seed,
         "Of what no file gives: parameters and states by their initializer, float inputs standard normal, "
         "integer inputs uniform in [0, rows of the table they index)")
      ->capture_default_str();
  app.add_option("--integer-bound", line.options.integerBound, "For integer inputs that index no table")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24))
      ->capture_default_str();
  app.add_option(
         "--types", line.types,
         "exact: float64 throughout, casts between floats are the identity; declared: each op rounds to its "
         "type. Default: exact; from `fuse` on a program is run as it was compiled, by the executor")
      ->check(CLI::IsMember({"exact", "declared"}));
  app.add_option(
      "--output", line.output,
      "A folder for one .npy file per result, or a .safetensors file: results, and variables that the step "
      "writes. With --types exact floats are stored as float64");
  app.add_flag("--print", line.print, "Print whole tensors, with all digits");
  CLI::Option *checkPhases = app.add_flag(
      "--check-phases", line.checkPhases,
      "Run the program after every phase up to schedule, and name the first that changed a value. "
      "A bare program is compiled with SGD, on a mesh with ZeRO-1 and sequence parallelism, on one with a "
      "pipeline also cut into a stage per rank of it");
  app.add_option("--set", line.check.overrides, "With --check-phases and a run file: overrides a key")
      ->needs(checkPhases);
  app.add_option("--sabotage", line.check.sabotage,
                 "With --check-phases: break one phase on purpose. One of: " + sabotageNames())
      ->needs(checkPhases);
  for (CLI::Option *option : app.get_options([](const CLI::Option *option) {
         return option->check_lname("function") || option->check_lname("input") ||
                option->check_lname("integer-bound") || option->check_lname("types") ||
                option->check_lname("output") || option->check_lname("print");
       }))
    checkPhases->excludes(option);
  app.footer("Exit codes: 0 ok, 1 internal, or a phase is wrong, 2 the command line or the program is wrong, "
             "3 a tensor file is.");
}

int finish(const absl::Status &status) {
  if (!status.ok() && !status.message().empty())
    std::fprintf(stderr, "weft-run: %s\n", std::string(status.message()).c_str());
  return static_cast<int>(exitCodeOf(status));
}

/// Every result and written variable under its name.
absl::StatusOr<std::map<std::string, reference::Tensor>> collect(const run::Outcome &outcome) {
  std::map<std::string, reference::Tensor> tensors;
  for (const std::vector<run::NamedTensor> *list : {&outcome.results, &outcome.variables})
    for (const run::NamedTensor &entry : *list) {
      auto [added, isNew] = tensors.try_emplace(entry.name, entry.value);
      if (!isNew)
        return withExitCode(absl::InvalidArgumentError(absl::StrCat(
                                "--output: ", entry.name, " is a result and a written variable; rename one")),
                            ExitCode::Config);
      if (outcome.types == interpret::Types::Exact && isFloat(entry.value.dtype))
        added->second.dtype = DType::F64;
    }
  return tensors;
}

absl::Status show(const run::Outcome &outcome, const CommandLine &line) {
  auto printed = [&](const std::string &name, const reference::Tensor &tensor) {
    std::string text = line.print ? run::printWhole(name, tensor) : run::summarize(name, tensor);
    std::printf("%s\n", text.c_str());
  };
  for (const run::NamedTensor &entry : outcome.results)
    printed(entry.name, entry.value);
  for (const run::NamedTensor &entry : outcome.variables)
    printed("@" + entry.name, entry.value);
  if (line.output.empty())
    return absl::OkStatus();
  absl::StatusOr<std::map<std::string, reference::Tensor>> tensors = collect(outcome);
  return tensors.ok() ? run::writeTensors(line.output, *tensors) : tensors.status();
}

int runCommand(CommandLine &line) {
  if (!line.types.empty())
    line.options.types = line.types == "exact" ? interpret::Types::Exact : interpret::Types::Declared;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NnDialect, sched::SchedDialect, dist::DistDialect, mlir::func::FuncDialect>();
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context, llvm::errs());
  if (line.checkPhases) {
    line.check.file = line.file;
    line.check.seed = line.options.seed;
    return finish(run::checkFile(context, line.check));
  }
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(line.file);
  if (!buffer)
    return finish(withExitCode(
        absl::NotFoundError(absl::StrCat(line.file, ": cannot be read: ", buffer.getError().message())),
        ExitCode::Config));
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return static_cast<int>(ExitCode::Config);
  absl::StatusOr<run::Outcome> outcome = run::runModule(*module, line.options);
  return finish(outcome.ok() ? show(*outcome, line) : outcome.status());
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Executes a program, with the float64 reference or as it was compiled, on virtual ranks if it "
               "is on a mesh.",
               "weft-run");
  CommandLine line;
  declareOptions(app, line);
  try {
    app.parse(argc, argv);
    return runCommand(line);
  } catch (const CLI::ParseError &error) {
    return static_cast<int>(app.exit(error) == 0 ? ExitCode::Ok : ExitCode::Config);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "weft-run: internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::Internal);
  }
}
