//===- GenerateCommand.cpp - weft generate --------------------------------===//
//
// The prompt and what follows it go to standard output while they come, and nothing else does. The first
// signal ends the text behind a whole token.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/GenerateCommand.h"

#include "runtime/train/Generator.h"
#include "runtime/train/OpenRun.h"
#include "tools/weft/Command.h"
#include "tools/weft/StopSignals.h"

#include <cstdio>
#include <memory>
#include <utility>

namespace weft {

namespace {
struct GenerateCommandOptions {
  std::string run;
  std::string checkpoint;
  std::optional<std::string> prompt;
  std::optional<int64_t> tokens, topK, seed;
  std::optional<double> temperature, topP;
};
} // namespace

static void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

static void reportSpeed(const GeneratedText &text) {
  std::fprintf(stderr, "%lld tokens of prompt in %.2f s", static_cast<long long>(text.promptTokens),
               text.promptSeconds);
  if (text.tokens > 1 && text.secondsBehind > 0)
    std::fprintf(stderr, ", then %.1f tokens/s", static_cast<double>(text.tokens - 1) / text.secondsBehind);
  std::fprintf(stderr, "\n");
}

static GenerateConfig configOf(const GenerateCommandOptions &options, GenerateConfig config) {
  config.prompt = options.prompt.value_or(config.prompt);
  config.maxTokens = options.tokens.value_or(config.maxTokens);
  config.temperature = options.temperature.value_or(config.temperature);
  config.topK = options.topK.value_or(config.topK);
  config.topP = options.topP.value_or(config.topP);
  config.seed = options.seed.value_or(config.seed);
  return config;
}

static absl::Status generate(const GenerateCommandOptions &options, OpenedRun &run,
                             const JobProcesses &processes) {
  const GenerateConfig config = configOf(options, run.loaded.config.generate);
  absl::StatusOr<int64_t> length = textLengthOf(run.parts);
  if (!length.ok())
    return length.status();
  bool begun = false;
  GeneratedText result; // rank 0's, which is that of all
  // All ranks compute the same logits and so sample the same tokens; one of them shows what they are.
  const auto onRank = [&](Executor &executor, Communicator &communicator) -> absl::Status {
    absl::StatusOr<TextWindow> window = TextWindow::bind(executor, communicator.rank(), *length);
    if (!window.ok())
      return window.status();
    TextListener listener;
    listener.stopRequested = stopSignalCame;
    if (communicator.rank() == 0)
      listener.text = [&](std::string_view text) {
        if (!std::exchange(begun, true))
          print(config.prompt);
        print(text);
      };
    absl::StatusOr<GeneratedText> text =
        generateText(*window, communicator, *run.tokenizer, config, listener);
    if (text.ok() && communicator.rank() == 0)
      result = *text;
    return text.status();
  };
  noteStopSignals();
  absl::Status status = runOpened(run, processes, onRank);
  if (begun)
    print("\n");
  if (begun && status.ok())
    reportSpeed(result);
  return status;
}

static void runGenerate(const GenerateCommandOptions &options) {
  absl::Status status = withOpenedRun(
      options.run, options.checkpoint, {}, "weft generate " + options.run,
      [&](OpenedRun &run, JobProcesses &processes) { return generate(options, run, processes); });
  if (!status.ok())
    failCommand(status);
}

void addGenerateCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("generate", "Continue a text with a trained model");
  auto options = std::make_shared<GenerateCommandOptions>();
  command->add_option("RUN", options->run, "A run's folder, or an executable with --checkpoint")->required();
  command->add_option("--checkpoint", options->checkpoint,
                      "A checkpoint, or a run's folder, whose latest is taken (default: the latest of RUN)");
  command->add_option("--prompt", options->prompt, "The text to continue (default: generate.prompt)");
  command->add_option("--tokens", options->tokens, "Tokens to sample (default: generate.max_tokens)")
      ->check(CLI::Range(int64_t{1}, int64_t{16777216}));
  command
      ->add_option("--temperature", options->temperature,
                   "Logits are divided by it; 0: always the likeliest token (default: generate.temperature)")
      ->check(CLI::Range(0.0, 1000.0));
  command
      ->add_option("--top-k", options->topK,
                   "Sample among the k likeliest tokens only; 0: all (default: generate.top_k)")
      ->check(CLI::Range(int64_t{0}, int64_t{16777216}));
  command
      ->add_option("--top-p", options->topP,
                   "Of those, sample among the fewest likeliest tokens that have this share of the "
                   "probability; 1: all (default: generate.top_p)")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--seed", options->seed, "Seed of the sampling (default: generate.seed)")
      ->check(CLI::Range(int64_t{0}, int64_t{9007199254740992}));
  command->callback([options] { runGenerate(*options); });
}

} // namespace weft
