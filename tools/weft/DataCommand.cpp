//===- DataCommand.cpp - The commands of weft data ----------------------===//
//
// show prints the text of documents; the others have files of their own.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/DataCommand.h"

#include "runtime/data/DatasetDescription.h"
#include "runtime/data/IndexedDataset.h"
#include "runtime/metrics/HumanFormat.h"
#include "tools/weft/Command.h"
#include "tools/weft/DataInspectCommand.h"
#include "tools/weft/DataPrepareCommand.h"
#include "tools/weft/DataStepCommand.h"
#include "tools/weft/DataTrainTokenizer.h"
#include "tools/weft/TokenizerOptions.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace weft {

namespace {
struct ShowOptions {
  std::string dataset;
  TokenizerOptions tokenizer;
  int64_t document = 0;
  int64_t count = 1;
  bool showsTokens = false;
};
} // namespace

static IndexedDataset openDataset(const std::string &path) {
  absl::StatusOr<IndexedDataset> dataset = IndexedDataset::open(path);
  if (!dataset.ok())
    failCommand(withExitCode(dataset.status(), ExitCode::Data));
  return std::move(*dataset);
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
  std::unique_ptr<Tokenizer> tokenizer = openTokenizer(options.tokenizer);
  IndexedDataset dataset = openDataset(options.dataset);
  if (absl::Status status = checkTokenizer(dataset, *tokenizer); !status.ok())
    failCommand(withExitCode(status, ExitCode::Data));
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
  addTokenizerOptions(*command, options->tokenizer);
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
  addDataPrepare(*data);
  addDataInspect(*data);
  addShow(*data);
  addDataTrainTokenizer(*data);
}

} // namespace weft
