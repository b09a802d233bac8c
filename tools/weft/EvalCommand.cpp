//===- EvalCommand.cpp - weft eval ----------------------------------------===//
//
// The same program over the same samples as the evaluations of the training: equal weights, equal bits.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/EvalCommand.h"

#include "runtime/metrics/HumanFormat.h"
#include "runtime/train/Evaluator.h"
#include "runtime/train/OpenRun.h"
#include "runtime/train/RunData.h"
#include "runtime/train/RunFolder.h"
#include "tools/weft/Command.h"

#include <cstdio>
#include <filesystem>
#include <memory>

namespace weft {

namespace {
struct EvalCommandOptions {
  std::string run;
  std::string checkpoint;
  std::vector<std::string> overrides;
};
} // namespace

static absl::Status evaluate(const EvalCommandOptions &options, OpenedRun &run, JobProcesses &processes) {
  const Config &config = run.loaded.config;
  const std::filesystem::path path = std::filesystem::absolute(options.run).lexically_normal();
  const std::string runs = (path.has_filename() ? path : path.parent_path()).parent_path().string();
  RunLog log = processes.leads() ? RunLog() : RunLog::silent();
  std::shared_ptr<const TrainingData> data;
  for (bool leaders : {true, false}) { // who comes second finds prepared what the first needed
    absl::Status opened;
    if (processes.leads() == leaders) {
      absl::StatusOr<std::shared_ptr<const TrainingData>> mine =
          openRunData(config, *run.tokenizer, dataCache(runs), log);
      opened = mine.status();
      data = mine.ok() ? *std::move(mine) : nullptr;
    }
    if (absl::Status status = processes.agree(opened); !status.ok())
      return status;
  }
  Evaluation result; // rank 0's, which is that of all
  absl::Status status = runOpened(run, processes, [&](Executor &executor, Communicator &communicator) {
    absl::StatusOr<Evaluator> evaluator =
        Evaluator::bind(executor, communicator, config, data, *run.tokenizer, config.eval.batches);
    if (!evaluator.ok())
      return evaluator.status();
    absl::StatusOr<Evaluation> mine = evaluator->evaluate();
    if (mine.ok() && communicator.rank() == 0)
      result = *mine;
    return mine.status();
  });
  if (status.ok() && processes.leads())
    std::printf("step %lld   validation %.4f (%.2f bits per byte)   %s samples   %s\n",
                static_cast<long long>(run.checkpoint->state().step), result.loss, result.bitsPerByte,
                formatCount(result.samples).c_str(), run.checkpoint->folder().c_str());
  return status;
}

static void runEval(const EvalCommandOptions &options) {
  absl::Status status = withOpenedRun(
      options.run, options.checkpoint, options.overrides, "weft eval " + options.run,
      [&](OpenedRun &run, JobProcesses &processes) { return evaluate(options, run, processes); });
  if (!status.ok())
    failCommand(status);
}

void addEvalCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("eval", "Measure the loss of a trained model on held-out data");
  auto options = std::make_shared<EvalCommandOptions>();
  command->add_option("RUN", options->run, "A run's folder, or an executable with --checkpoint")->required();
  command->add_option("--checkpoint", options->checkpoint,
                      "A checkpoint, or a run's folder, whose latest is taken (default: the latest of RUN)");
  command->add_option("--set", options->overrides, "Override a key: --set eval.batches=100")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command->callback([options] { runEval(*options); });
}

} // namespace weft
