//===- CompileCommand.cpp - weft compile ----------------------------------===//
//
// Reads the run file only for the memory limit; everything else is the compiler's, which checks the rest.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/CompileCommand.h"

#include "runtime/config/ConfigLoader.h"
#include "runtime/train/TrainRun.h"
#include "tools/weft/Command.h"
#include "tools/weft/CompilerProcess.h"

#include <memory>
#include <optional>

namespace weft {

namespace {
struct CompileCommandOptions {
  std::string file;
  std::string output;
  std::string printAfter;
  std::string reproducer;
  std::string draw;
  std::vector<std::string> match;
  std::vector<std::string> overrides;
  std::vector<std::string> explain;
  std::optional<int64_t> verifiedRanks;
};
} // namespace

static void compile(const CompileCommandOptions &options) {
  absl::StatusOr<LoadedConfig> loaded = loadConfig(options.file, options.overrides);
  if (!loaded.ok())
    failCommand(withExitCode(loaded.status(), ExitCode::Config));
  std::vector<std::string> arguments = {options.file};
  addMemoryLimits(planLimitsOf(loaded->config), arguments);
  const auto add = [&](const char *option, const std::string &value) {
    if (!value.empty())
      arguments.insert(arguments.end(), {option, value});
  };
  add("--output", options.output);
  add("--print-after", options.printAfter);
  add("--reproducer", options.reproducer);
  for (const std::string &override : options.overrides)
    add("--set", override);
  for (const std::string &what : options.explain)
    add("--explain", what);
  add("--draw", options.draw);
  for (const std::string &pattern : options.match)
    add("--match", pattern);
  if (options.verifiedRanks)
    add("--verify-ranks", std::to_string(*options.verifiedRanks));
  if (absl::Status status = runCompiler(arguments, false); !status.ok())
    failCommand(status);
}

void addCompileCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("compile", "Compile a run file to an executable");
  auto options = std::make_shared<CompileCommandOptions>();
  command->add_option("FILE", options->file, "The run file")->required();
  command->add_option("-o,--output", options->output,
                      "The executable to write (FILE.weft); without it nothing is written");
  command
      ->add_option("--set", options->overrides, "Override a key: --set train.steps=100 (the value is YAML)")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command
      ->add_option("--explain", options->explain,
                   "Show where memory goes, where every value lives and what moves, what a rank sends in a "
                   "step, which composites became kernels, or what each phase of the compilation took")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"memory", "placement", "communication", "fusion", "compilation"}));
  command->add_option("--draw", options->draw, "Write an SVG picture of which rank holds what");
  command
      ->add_option(
          "--match", options->match,
          "Shell patterns of the parameters and boundaries to draw (default: one layer, embedding, head)")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->needs("--draw");
  command
      ->add_option(
          "--verify-ranks", options->verifiedRanks,
          "Hold the command lists of so many ranks against each other, and say so (default: 20 of them)")
      ->check(CLI::PositiveNumber);
  command->add_option("--print-after", options->printAfter, "Print the IR after this phase");
  command->add_option("--reproducer", options->reproducer, "Where a pass that fails leaves its input");
  command->callback([options] { compile(*options); });
}

} // namespace weft
