//===- EvalCommand.cpp - weft eval ----------------------------------------===//
//
// The loss on the data that the run holds out: the same program over the same samples as the evaluations of
// the training, so equal weights give equal bits. Or the loss on a file, window by window. What was measured
// goes to standard output, all else to standard error.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/EvalCommand.h"

#include "runtime/metrics/HumanFormat.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/Evaluator.h"
#include "runtime/train/OpenRun.h"
#include "runtime/train/RunData.h"
#include "runtime/train/RunFolder.h"
#include "tools/weft/Command.h"
#include "tools/weft/StopSignals.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace weft {

namespace {
struct EvalCommandOptions {
  std::string run;
  std::string checkpoint;
  std::string data;
  std::string jsonKey = "text";
  std::optional<int64_t> stride;
  bool asJson = false;
  std::vector<std::string> overrides;
};

/// A line on standard error every two seconds: short evaluations say nothing.
class ProgressLine {
public:
  /// `left`: the estimate, or nothing for one from the speed so far.
  void show(const std::string &what, double share, std::optional<double> left = std::nullopt) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds - shown < kSecondsBetweenLines || share <= 0)
      return;
    shown = seconds;
    std::fprintf(stderr, "%s: %.0f %%, %s left\n", what.c_str(), 100.0 * share,
                 formatDuration(left.value_or(seconds / share - seconds)).c_str());
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kSecondsBetweenLines = 2.0;
  Clock::time_point begin = Clock::now();
  double shown = 0;
};
} // namespace

/// What the run holds out.
static absl::StatusOr<std::shared_ptr<const EvaluationSamples>>
openHeldOut(const EvalCommandOptions &options, OpenedRun &run, JobProcesses &processes) {
  const Config &config = run.loaded.config;
  const std::filesystem::path path = std::filesystem::absolute(options.run).lexically_normal();
  const std::string runs = (path.has_filename() ? path : path.parent_path()).parent_path().string();
  RunLog log = processes.leads() && !options.asJson ? RunLog() : RunLog::silent();
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
  return heldOutSamples(data, config.eval.batches * config.train.globalBatch);
}

/// The windows of --data, of which each process has a copy.
static absl::StatusOr<std::shared_ptr<const EvaluationSamples>>
openFile(const EvalCommandOptions &options, OpenedRun &run, JobProcesses &processes) {
  const Config &config = run.loaded.config;
  FileSamplesOptions wanted;
  wanted.length = config.data.sequenceLength;
  wanted.stride = options.stride.value_or(wanted.length);
  wanted.vocabularySize = programVocabulary(config, *run.tokenizer);
  wanted.prepare.jsonKey = options.jsonKey;
  wanted.prepare.shouldStop = stopSignalCame;
  if (processes.leads())
    wanted.prepare.onProgress = [&, line = ProgressLine()](const PrepareProgress &progress) mutable {
      if (progress.bytesTotal > 0)
        line.show("encoding " + options.data,
                  static_cast<double>(progress.bytesRead) / static_cast<double>(progress.bytesTotal),
                  progress.secondsLeft);
    };
  absl::StatusOr<std::shared_ptr<const EvaluationSamples>> samples =
      fileSamples(options.data, *run.tokenizer, wanted);
  if (absl::Status status = processes.agree(withExitCode(samples.status(), ExitCode::Data)); !status.ok())
    return status;
  return samples;
}

static void report(const EvalCommandOptions &options, const OpenedRun &run, const Evaluation &result) {
  const auto step = static_cast<long long>(run.checkpoint->state().step);
  const std::string &folder = run.checkpoint->folder();
  if (options.asJson) {
    nlohmann::ordered_json json = {{"checkpoint", folder},
                                   {"step", step},
                                   {"loss", result.loss},
                                   {"perplexity", result.perplexity()},
                                   {"bits_per_byte", result.bitsPerByte},
                                   {"tokens", result.tokens},
                                   {"bytes", result.bytes},
                                   {"samples", result.samples}};
    if (!options.data.empty())
      json["data"] = options.data;
    std::printf("%s\n", json.dump(2).c_str());
  } else if (options.data.empty()) {
    std::printf("step %lld   validation %.4f (%.2f bits per byte)   %s samples   %s\n", step, result.loss,
                result.bitsPerByte, formatCount(result.samples).c_str(), folder.c_str());
  } else {
    std::printf("step %lld   loss %.4f   perplexity %.4g   %.4f bits per byte   %s tokens   %s bytes   "
                "%s windows   %s\n",
                step, result.loss, result.perplexity(), result.bitsPerByte,
                formatCount(result.tokens).c_str(), formatCount(result.bytes).c_str(),
                formatCount(result.samples).c_str(), folder.c_str());
  }
}

static absl::Status evaluate(const EvalCommandOptions &options, OpenedRun &run, JobProcesses &processes) {
  noteStopSignals();
  absl::StatusOr<std::shared_ptr<const EvaluationSamples>> samples =
      options.data.empty() ? openHeldOut(options, run, processes) : openFile(options, run, processes);
  if (!samples.ok())
    return samples.status();
  Evaluation result; // rank 0's, which is that of all
  ProgressLine line;
  absl::Status status = runOpened(run, processes, [&](Executor &executor, Communicator &communicator) {
    absl::StatusOr<Evaluator> evaluator =
        Evaluator::bind(executor, communicator, run.loaded.config, *samples, *run.tokenizer);
    if (!evaluator.ok())
      return evaluator.status();
    EvaluationListener listener;
    listener.stopRequested = stopSignalCame;
    if (communicator.rank() == 0)
      listener.done = [&](int64_t done) {
        line.show("evaluating", static_cast<double>(done) / static_cast<double>((*samples)->count()));
      };
    absl::StatusOr<Evaluation> mine = evaluator->evaluate(listener);
    if (mine.ok() && communicator.rank() == 0)
      result = *mine;
    return mine.status();
  });
  if (status.ok() && processes.leads())
    report(options, run, result);
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
  CLI::Option *data = command->add_option(
      "--data", options->data,
      "Text or JSONL (plain, gzip or Zstandard), or a prepared dataset: its perplexity and bits per byte "
      "(default: what the run holds out)");
  command
      ->add_option("--stride", options->stride,
                   "Tokens from one window of --data to the next (default: the model's sequence length)")
      ->needs(data)
      ->check(CLI::Range(int64_t{1}, int64_t{16777216}));
  command->add_option("--json-key", options->jsonKey, "The key of the text in a JSONL line of --data")
      ->needs(data)
      ->capture_default_str();
  command->add_flag("--json", options->asJson, "Print one JSON object");
  command->add_option("--set", options->overrides, "Override a key: --set eval.batches=100")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command->callback([options] { runEval(*options); });
}

} // namespace weft
