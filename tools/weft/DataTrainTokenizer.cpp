//===- DataTrainTokenizer.cpp - weft data train-tokenizer -----------------===//
//
// Counting takes a pass over the texts, merging the rest; the file appears when it is whole.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/DataTrainTokenizer.h"

#include "runtime/data/CountPieces.h"
#include "runtime/metrics/HumanFormat.h"
#include "runtime/support/FileText.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <unistd.h>

namespace weft {
namespace {

/// Of the file that is written.
constexpr RegexDialect dialect = RegexDialect::Oniguruma;
constexpr size_t bytes = 256;
constexpr size_t mostTokens = (size_t{1} << 24) - 1;

struct TrainTokenizerOptions {
  std::vector<std::string> paths;
  std::string output;
  std::string pattern = "gpt2";
  std::string jsonKey = "text";
  std::vector<std::string> specialTokens = {"<|endoftext|>"};
  size_t vocabularySize = 32000;
  int64_t leastCount = 0;
  bool quiet = false;
};

[[noreturn]] void refuse(const std::string &message) {
  failCommand(withExitCode(absl::InvalidArgumentError(message), ExitCode::Config));
}

std::unique_ptr<Splitter> splitterOf(const std::string &name) {
  const std::string pattern(wellKnownPattern(name, dialect));
  if (pattern.empty())
    refuse(absl::StrCat("--pattern: no pattern is called \"", name,
                        "\". Known: ", wellKnownPatternNames(dialect), "."));
  return createWellKnownSplitter(std::span(&pattern, 1), dialect);
}

void checkOptions(const TrainTokenizerOptions &options) {
  const std::set<std::string> names(options.specialTokens.begin(), options.specialTokens.end());
  if (names.count("") != 0)
    refuse("--special-token: a special token needs a name");
  if (options.vocabularySize < bytes + names.size() || options.vocabularySize > mostTokens)
    refuse(absl::StrCat("--vocab-size: ", options.vocabularySize, " is not one of ", bytes + names.size(),
                        " (the bytes and the special tokens) to ", mostTokens));
}

void trainTokenizer(const TrainTokenizerOptions &options) {
  checkOptions(options);
  const auto begin = std::chrono::steady_clock::now();
  const std::unique_ptr<Splitter> splitter = splitterOf(options.pattern);
  PieceCounts counts(*splitter);
  absl::StatusOr<CountedTexts> texts = countPieces(options.paths, options.jsonKey, *splitter, counts);
  if (!texts.ok())
    failCommand(withExitCode(texts.status(), ExitCode::Data));
  BytePairTrainerOptions how{.vocabularySize = options.vocabularySize,
                             .leastCount = options.leastCount,
                             .specialTokens = options.specialTokens,
                             .onProgress = nullptr};
  const bool isTerminal = ::isatty(STDERR_FILENO) == 1;
  if (!options.quiet && isTerminal)
    how.onProgress = [&](size_t tokens) {
      std::fprintf(stderr, "\r\033[K%zu of %zu tokens", tokens, options.vocabularySize);
    };
  const TrainedVocabulary vocabulary = trainBytePairs(counts, how);
  if (how.onProgress)
    std::fprintf(stderr, "\r\033[K");
  if (absl::Status status =
          writeFileAtomically(options.output, writeTokenizerJson(vocabulary, options.pattern));
      !status.ok())
    failCommand(withExitCode(status, ExitCode::Data));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%s: %s tokens (%s merges) from %s of text in %s files (%.1f s)\n", options.output.c_str(),
              formatCount(static_cast<int64_t>(vocabulary.tokens.size())).c_str(),
              formatCount(static_cast<int64_t>(vocabulary.merges.size())).c_str(),
              formatBytes(texts->bytes).c_str(), formatCount(texts->files).c_str(), seconds);
  if (vocabulary.tokens.size() < options.vocabularySize)
    std::printf("fewer than %zu: no pair is left that comes %lld times\n", options.vocabularySize,
                static_cast<long long>(std::max<int64_t>(options.leastCount, 1)));
}

} // namespace

void addDataTrainTokenizer(CLI::App &data) {
  CLI::App *command = data.add_subcommand("train-tokenizer", "Learn a byte-level BPE tokenizer from texts");
  auto options = std::make_shared<TrainTokenizerOptions>();
  command
      ->add_option(
          "PATH", options->paths,
          "Text files (a document each), .jsonl files (a document a line), folders of them; .gz and .zst too")
      ->required();
  command->add_option("-o,--output", options->output, "The tokenizer.json to write")->required();
  command->add_option("--vocab-size", options->vocabularySize, "Tokens, the bytes and special ones included")
      ->capture_default_str();
  command
      ->add_option("--min-frequency", options->leastCount, "Pairs that come less often do not become tokens")
      ->capture_default_str();
  command->add_option("--special-token", options->specialTokens, "Names of the first tokens, in this order")
      ->capture_default_str();
  command->add_option("--pattern", options->pattern, "How text is split: " + wellKnownPatternNames(dialect))
      ->capture_default_str();
  command->add_option("--json-key", options->jsonKey, "The key of the text in a JSONL line")
      ->capture_default_str();
  command->add_flag("-q,--quiet", options->quiet, "No progress");
  command->callback([options] { trainTokenizer(*options); });
}

} // namespace weft
