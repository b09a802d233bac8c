//===- TrainCommand.cpp - weft train --------------------------------------===//
//
// Gives the run what only a process has: a compiler to start, and signals.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/TrainCommand.h"

#include "runtime/train/TrainRun.h"
#include "tools/weft/Command.h"
#include "tools/weft/CompilerProcess.h"
#include "tools/weft/StopSignals.h"

#include <memory>

namespace weft {

static absl::Status compile(const TrainRequest &train, const CompileRequest &request) {
  std::vector<std::string> arguments = {train.file};
  addMemoryLimits(request.limits, arguments);
  if (request.ranks > 0)
    arguments.insert(arguments.end(), {"--set", "launch.ranks=" + std::to_string(request.ranks)});
  for (const std::string &override : train.overrides)
    arguments.insert(arguments.end(), {"--set", override});
  if (request.output.empty())
    arguments.insert(arguments.end(), {"--explain", "memory"});
  else
    arguments.insert(arguments.end(), {"--output", request.output, "--reproducer", request.reproducer});
  return runCompiler(arguments, !request.output.empty());
}

static void train(TrainRequest request) {
  request.compile = [&request](const CompileRequest &what) { return compile(request, what); };
  request.stopRequested = stopSignalCame;
  if (!request.dryRun)
    noteStopSignals();
  if (absl::Status status = trainRun(request); !status.ok())
    failCommand(status);
}

void addTrainCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("train", "Train a run, from its start or from its latest checkpoint");
  auto request = std::make_shared<TrainRequest>();
  command->add_option("FILE", request->file, "A run file (YAML), or an executable (FILE.weft)")->required();
  command->add_option("--set", request->overrides, "Override a key: --set train.steps=10")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command->add_option("--name", request->name, "The run's name (default: that of the file)");
  command->add_option("--runs", request->runs, "The folder of all runs")->capture_default_str();
  command->add_flag("--dry-run", request->dryRun,
                    "Check and compile, show where memory goes, and train nothing");
  command->add_flag("--profile", request->profile,
                    "Show where the time of one step goes (ms, GFLOP/s, GB/s and the share of this machine's "
                    "measured limit, for each kernel) and what it sends, and write the trace of all ranks to "
                    "RUNS/NAME/trace.json");
  command->callback([request] { train(*request); });
}

} // namespace weft
