//===- DataPrepareCommand.cpp - weft data prepare -------------------------===//
//
// Progress goes to standard error: rewritten in place on a terminal, a line every ten seconds elsewhere. The
// first SIGINT or SIGTERM ends the preparation behind a whole part.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/DataPrepareCommand.h"

#include "runtime/data/IndexedDataset.h"
#include "runtime/data/Prepare.h"
#include "runtime/metrics/HumanFormat.h"
#include "tools/weft/Command.h"
#include "tools/weft/StopSignals.h"
#include "tools/weft/TokenizerOptions.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <unistd.h>

namespace weft {

namespace {
struct PrepareCommandOptions {
  std::vector<std::string> paths;
  std::string prefix;
  TokenizerOptions tokenizer;
  std::string jsonKey = "text";
  int64_t threads = 0;
  bool quiet = false;
};

/// Prints where a preparation stands.
class ProgressPrinter {
public:
  void operator()(const PrepareProgress &progress) {
    bool isDone = progress.bytesRead == progress.bytesTotal;
    if (!isTerminal && !isDone && progress.seconds < nextLine)
      return;
    nextLine = progress.seconds + 10;
    double percent = progress.bytesTotal > 0 ? 100.0 * static_cast<double>(progress.bytesRead) /
                                                   static_cast<double>(progress.bytesTotal)
                                             : 100.0;
    std::string line = "prepare " + std::to_string(static_cast<int>(percent)) + "%  " +
                       formatBytes(progress.bytesRead) + " of " + formatBytes(progress.bytesTotal) + "  " +
                       formatCount(progress.documents) + " documents  " + formatCount(progress.tokens) +
                       " tokens  eta " + formatDuration(progress.secondsLeft);
    std::fprintf(stderr, isTerminal ? "\r\033[K%s%s" : "%s%s", line.c_str(),
                 isDone || !isTerminal ? "\n" : "");
  }

private:
  bool isTerminal = ::isatty(STDERR_FILENO) == 1;
  double nextLine = 10;
};
} // namespace

static void printResult(const std::string &prefix, const PrepareResult &result) {
  double seconds = std::max(result.seconds, 1e-3);
  int64_t perSecond =
      static_cast<int64_t>(static_cast<double>(result.textBytes - result.textBytesBefore) / seconds);
  std::printf("%s.bin, %s.idx: %s documents, %s tokens from %s of text in %s files (%.1f s, %s/s)\n",
              prefix.c_str(), prefix.c_str(), formatCount(result.documents).c_str(),
              formatCount(result.tokens).c_str(), formatBytes(result.textBytes).c_str(),
              formatCount(result.files).c_str(), result.seconds, formatBytes(perSecond).c_str());
  if (result.emptyDocuments > 0)
    std::printf("left out: %s documents without text\n", formatCount(result.emptyDocuments).c_str());
}

static void prepare(const PrepareCommandOptions &options) {
  std::unique_ptr<Tokenizer> tokenizer = openTokenizer(options.tokenizer);
  std::string prefix = datasetPrefix(options.prefix);
  PrepareOptions how;
  how.jsonKey = options.jsonKey;
  how.threads = options.threads;
  how.onNotice = [](const std::string &text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  how.shouldStop = stopSignalCame;
  if (!options.quiet)
    how.onProgress = ProgressPrinter();
  noteStopSignals();
  absl::StatusOr<PrepareResult> result = prepareData(options.paths, prefix, *tokenizer, how);
  if (!result.ok())
    failCommand(withExitCode(result.status(), ExitCode::Data));
  printResult(prefix, *result);
}

void addDataPrepare(CLI::App &data) {
  CLI::App *command = data.add_subcommand("prepare", "Make a dataset of text and JSONL files and folders");
  auto options = std::make_shared<PrepareCommandOptions>();
  command
      ->add_option(
          "PATH", options->paths,
          "Text files (a document each), .jsonl files (a document a line), folders of them; .gz and .zst too")
      ->required();
  command->add_option("-o,--output", options->prefix, "PREFIX of the two files, PREFIX.bin and PREFIX.idx")
      ->required();
  addTokenizerOptions(*command, options->tokenizer);
  command->add_option("--json-key", options->jsonKey, "The key of the text in a JSONL line")
      ->capture_default_str();
  command
      ->add_option("--threads", options->threads,
                   "Threads that encode (default: one for each processor that the process may use)")
      ->check(CLI::Range(1, 1024));
  command->add_flag("-q,--quiet", options->quiet, "No progress");
  command->callback([options] { prepare(*options); });
}

} // namespace weft
