//===- DataCommand.cpp - weft data prepare|inspect|show -------------------===//
//
// prepare writes a dataset, inspect checks one and prints its figures, show prints the text of documents.
// Progress goes to standard error: rewritten in place on a terminal, a line every ten seconds elsewhere.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/DataCommand.h"

#include "runtime/data/IndexedDataset.h"
#include "runtime/data/Prepare.h"
#include "runtime/metrics/HumanFormat.h"
#include "tools/weft/Command.h"
#include "tools/weft/DataStepCommand.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <unistd.h>

namespace weft {

namespace {
struct PrepareCommandOptions {
  std::vector<std::string> paths;
  std::string prefix;
  std::string tokenizer = "bytes";
  std::string jsonKey = "text";
  bool quiet = false;
};

struct ShowOptions {
  std::string dataset;
  std::string tokenizer = "bytes";
  int64_t document = 0;
  int64_t count = 1;
  bool showsTokens = false;
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

static std::unique_ptr<Tokenizer> makeTokenizer(const std::string &kind) {
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = createTokenizer(kind);
  if (!tokenizer.ok())
    failCommand(withExitCode(tokenizer.status(), ExitCode::Config));
  return std::move(*tokenizer);
}

static IndexedDataset openDataset(const std::string &path) {
  absl::StatusOr<IndexedDataset> dataset = IndexedDataset::open(path);
  if (!dataset.ok())
    failCommand(withExitCode(dataset.status(), ExitCode::Data));
  return std::move(*dataset);
}

static void prepare(const PrepareCommandOptions &options) {
  std::unique_ptr<Tokenizer> tokenizer = makeTokenizer(options.tokenizer);
  std::string prefix = datasetPrefix(options.prefix);
  PrepareOptions how;
  how.jsonKey = options.jsonKey;
  if (!options.quiet)
    how.onProgress = ProgressPrinter();
  absl::StatusOr<PrepareResult> result = prepareData(options.paths, prefix, *tokenizer, how);
  if (!result.ok())
    failCommand(withExitCode(result.status(), ExitCode::Data));
  double perSecond = static_cast<double>(result->textBytes) / std::max(result->seconds, 1e-3);
  std::printf("%s.bin, %s.idx: %s documents, %s tokens from %s of text in %s files (%.1f s, %s/s)\n",
              prefix.c_str(), prefix.c_str(), formatCount(result->documents).c_str(),
              formatCount(result->tokens).c_str(), formatBytes(result->textBytes).c_str(),
              formatCount(result->files).c_str(), result->seconds,
              formatBytes(static_cast<int64_t>(perSecond)).c_str());
  if (result->emptyDocuments > 0)
    std::printf("left out: %s documents without text\n", formatCount(result->emptyDocuments).c_str());
}

static void inspect(const std::string &path) {
  IndexedDataset dataset = openDataset(path);
  const IndexView &index = dataset.index();
  int64_t shortest = std::numeric_limits<int64_t>::max();
  int64_t longest = 0;
  for (int64_t d = 0; d < index.documents(); ++d) {
    int64_t length = 0;
    for (int64_t s = index.documentBegin(d); s < index.documentBegin(d + 1); ++s)
      length += index.sequenceLength(s);
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
  }
  std::printf("%s: whole\n", dataset.prefix().c_str());
  std::printf("  documents   %s\n", formatCount(index.documents()).c_str());
  std::printf("  sequences   %s\n", formatCount(index.sequences()).c_str());
  std::printf("  tokens      %s, stored as %s\n", formatCount(index.tokens()).c_str(),
              std::string(name(index.tokenType())).c_str());
  if (index.documents() > 0)
    std::printf("  tokens of a document   shortest %s, mean %s, longest %s\n", formatCount(shortest).c_str(),
                formatCount(index.tokens() / index.documents()).c_str(), formatCount(longest).c_str());
  std::printf("  checksum    %016llx\n", static_cast<unsigned long long>(dataset.checksum()));
}

static std::vector<int32_t> readDocument(const IndexedDataset &dataset, int64_t document,
                                         int32_t vocabularySize) {
  const IndexView &index = dataset.index();
  std::vector<int32_t> tokens;
  for (int64_t s = index.documentBegin(document); s < index.documentBegin(document + 1); ++s) {
    size_t before = tokens.size();
    tokens.resize(before + static_cast<size_t>(index.sequenceLength(s)));
    absl::Status status =
        dataset.read(index.sequenceStart(s), std::span(tokens).subspan(before), vocabularySize);
    if (!status.ok())
      failCommand(withExitCode(status, ExitCode::Data));
  }
  return tokens;
}

static void show(const ShowOptions &options) {
  std::unique_ptr<Tokenizer> tokenizer = makeTokenizer(options.tokenizer);
  IndexedDataset dataset = openDataset(options.dataset);
  int64_t documents = dataset.index().documents();
  if (options.document < 0 || options.document >= documents || options.count < 1) {
    std::fprintf(stderr, "%s.idx: documents 0 to %lld exist, and at least 1 must be shown\n",
                 dataset.prefix().c_str(), static_cast<long long>(documents - 1));
    endCommand(ExitCode::Config);
  }
  int64_t end = std::min(documents, options.document + std::min(options.count, documents));
  for (int64_t d = options.document; d < end; ++d) {
    std::vector<int32_t> tokens = readDocument(dataset, d, tokenizer->vocabularySize());
    std::printf("--- document %lld, %s tokens\n", static_cast<long long>(d),
                formatCount(static_cast<int64_t>(tokens.size())).c_str());
    if (options.showsTokens) {
      for (int32_t token : tokens)
        std::printf("%d ", token);
    } else {
      absl::StatusOr<std::string> text = tokenizer->decode(tokens);
      if (!text.ok())
        failCommand(withExitCode(text.status(), ExitCode::Data));
      std::fwrite(text->data(), 1, text->size(), stdout);
    }
    std::printf("\n");
  }
}

static void addPrepare(CLI::App &data) {
  CLI::App *command = data.add_subcommand("prepare", "Make a dataset of text and JSONL files and folders");
  auto options = std::make_shared<PrepareCommandOptions>();
  command
      ->add_option(
          "PATH", options->paths,
          "Text files (a document each), .jsonl files (a document a line), folders of them; .gz and .zst too")
      ->required();
  command->add_option("-o,--output", options->prefix, "PREFIX of the two files, PREFIX.bin and PREFIX.idx")
      ->required();
  command->add_option("--tokenizer", options->tokenizer, "The kind of tokenizer")->capture_default_str();
  command->add_option("--json-key", options->jsonKey, "The key of the text in a JSONL line")
      ->capture_default_str();
  command->add_flag("-q,--quiet", options->quiet, "No progress");
  command->callback([options] { prepare(*options); });
}

static void addInspect(CLI::App &data) {
  CLI::App *command = data.add_subcommand("inspect", "Check datasets and print their figures");
  auto datasets = std::make_shared<std::vector<std::string>>();
  command->add_option("DATASET", *datasets, "PREFIX or PREFIX.idx")->required();
  command->callback([datasets] {
    for (const std::string &dataset : *datasets)
      inspect(dataset);
  });
}

static void addShow(CLI::App &data) {
  CLI::App *command =
      data.add_subcommand("show", "Print the text of documents of a dataset, or what a step of a run reads");
  auto options = std::make_shared<ShowOptions>();
  auto step = std::make_shared<ShowStepOptions>();
  command->add_option("DATASET", options->dataset, "PREFIX or PREFIX.idx, or with --step a run file")
      ->required();
  CLI::Option *isStep = command->add_option(
      "--step", step->step, "Show the samples of this step of a run (from 1): text, positions, targets");
  command
      ->add_option("--microbatch", step->microbatch,
                   "Of the step, only this microbatch of each data rank (from 0)")
      ->needs(isStep);
  command->add_flag("--json", step->isJson, "The step as JSON")->needs(isStep);
  command->add_option("--set", step->overrides, "Override a key of the run file: --set train.seed=2")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->needs(isStep);
  command->add_option("--runs", step->runs, "The folder of all runs, in which prepared data is kept")
      ->capture_default_str()
      ->needs(isStep);
  command->add_option("--document", options->document, "The first document to show")->capture_default_str();
  command->add_option("--count", options->count, "How many documents to show")->capture_default_str();
  command->add_option("--tokenizer", options->tokenizer, "The kind of tokenizer")->capture_default_str();
  command->add_flag("--tokens", options->showsTokens, "Print token ids instead of text");
  for (const char *ofDataset : {"--document", "--count", "--tokenizer", "--tokens"})
    isStep->excludes(command->get_option(ofDataset));
  command->callback([options, step, isStep] {
    if (isStep->count() == 0)
      return show(*options);
    step->file = options->dataset;
    showStep(*step);
  });
}

void addDataCommand(CLI::App &app) {
  CLI::App *data = app.add_subcommand("data", "Prepare and look into datasets");
  data->require_subcommand(1);
  addPrepare(*data);
  addInspect(*data);
  addShow(*data);
}

} // namespace weft
