//===- DataStepCommand.cpp - weft data show RUN.yaml --step N -------------===//
//
// The samples are read as the trainer's loaders read them, so what is shown is what a step computes with:
// nothing here knows how a sample is chosen or packed.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/DataStepCommand.h"

#include "runtime/config/ConfigLoader.h"
#include "runtime/metrics/HumanFormat.h"
#include "runtime/train/RunData.h"
#include "runtime/train/RunFolder.h"
#include "tools/weft/Command.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace weft {

namespace {
using Json = nlohmann::ordered_json;

/// One sample of the step, with what the trainer reads of it.
struct ShownSample {
  explicit ShownSample(int64_t length)
      : tokens(length), targets(length), segments(length), positions(length) {}

  int64_t number = 0, dataRank = 0, microbatch = 0;
  SampleOrigin origin;
  std::vector<int32_t> tokens, targets, segments, positions;
};

/// Consecutive tokens of one segment.
struct Stretch {
  size_t begin, end;
};

std::vector<Stretch> stretchesOf(const ShownSample &sample) {
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < sample.segments.size(); ++i) {
    if (i == 0 || sample.segments[i] != sample.segments[i - 1])
      stretches.push_back({i, i});
    stretches.back().end = i + 1;
  }
  return stretches;
}

absl::StatusOr<std::string> textOf(const ShownSample &sample, Stretch stretch, const Tokenizer &tokenizer) {
  return tokenizer.decode(std::span(sample.tokens).subspan(stretch.begin, stretch.end - stretch.begin));
}

int64_t maskedOf(const ShownSample &sample, Stretch stretch) {
  return std::count(sample.targets.begin() + static_cast<std::ptrdiff_t>(stretch.begin),
                    sample.targets.begin() + static_cast<std::ptrdiff_t>(stretch.end), kNoTarget);
}

absl::StatusOr<std::vector<ShownSample>> readStep(const Config &config, const TrainingData &data,
                                                  const ShowStepOptions &options) {
  const int64_t perRank = config.train.globalBatch / config.parallel.dataRanks();
  std::vector<ShownSample> samples;
  SampleScratch scratch;
  for (int64_t i = 0; i < config.train.globalBatch; ++i) {
    ShownSample sample(config.data.sequenceLength);
    sample.number = (options.step - 1) * config.train.globalBatch + i;
    sample.dataRank = i / perRank;
    sample.microbatch = i % perRank / config.train.microBatch;
    if (options.microbatch && sample.microbatch != *options.microbatch)
      continue;
    sample.origin = data.origin(Split::Training, sample.number);
    if (absl::Status status =
            data.read(Split::Training, sample.number,
                      {sample.tokens, sample.targets, sample.segments, sample.positions}, scratch);
        !status.ok())
      return withExitCode(status, ExitCode::Data);
    samples.push_back(std::move(sample));
  }
  return samples;
}

absl::Status printText(const ShowStepOptions &options, const std::vector<ShownSample> &samples,
                       const TrainingData &data, const Tokenizer &tokenizer) {
  const IndexedDataset *const datasets = data.datasets().data();
  absl::PrintF("step %d: samples %d to %d\n", options.step, samples.front().number, samples.back().number);
  for (const ShownSample &sample : samples) {
    absl::PrintF("\nsample %d (data rank %d, microbatch %d): %s, epoch %d%s\n", sample.number,
                 sample.dataRank, sample.microbatch, datasets[sample.origin.input].prefix(),
                 sample.origin.epoch,
                 sample.origin.stage == 0 ? "" : absl::StrCat(", stage ", sample.origin.stage));
    for (Stretch stretch : stretchesOf(sample)) {
      const int32_t segment = sample.segments[stretch.begin];
      if (segment == 0) {
        absl::PrintF("  padding: tokens %d to %d, no targets\n", stretch.begin, stretch.end - 1);
        continue;
      }
      const SamplePiece &piece = sample.origin.pieces[static_cast<size_t>(segment - 1)];
      absl::PrintF("  segment %d: tokens %d to %d, positions %d to %d; document %d, from its token %d of "
                   "the data; %s\n",
                   segment, stretch.begin, stretch.end - 1, sample.positions[stretch.begin],
                   sample.positions[stretch.end - 1], piece.document, piece.begin,
                   maskedOf(sample, stretch) == 0 ? "every token has a target"
                                                  : "its last token has no target");
      absl::StatusOr<std::string> text = textOf(sample, stretch, tokenizer);
      if (!text.ok())
        return withExitCode(text.status(), ExitCode::Data);
      absl::PrintF("%s\n", *text);
    }
  }
  return absl::OkStatus();
}

absl::Status printJson(const ShowStepOptions &options, const std::vector<ShownSample> &samples,
                       const TrainingData &data, const Tokenizer &tokenizer) {
  Json all = Json::array();
  for (const ShownSample &sample : samples) {
    Json pieces = Json::array();
    for (Stretch stretch : stretchesOf(sample)) {
      const int32_t segment = sample.segments[stretch.begin];
      if (segment == 0)
        continue;
      const SamplePiece &piece = sample.origin.pieces[static_cast<size_t>(segment - 1)];
      absl::StatusOr<std::string> text = textOf(sample, stretch, tokenizer);
      if (!text.ok())
        return withExitCode(text.status(), ExitCode::Data);
      pieces.push_back({{"segment", segment},
                        {"document", piece.document},
                        {"data_token", piece.begin},
                        {"begin", stretch.begin},
                        {"tokens", stretch.end - stretch.begin},
                        {"text", *text}});
    }
    Json mask = Json::array();
    for (int32_t target : sample.targets)
      mask.push_back(target == kNoTarget ? 0 : 1);
    all.push_back({{"sample", sample.number},
                   {"data_rank", sample.dataRank},
                   {"microbatch", sample.microbatch},
                   {"data", data.datasets()[static_cast<size_t>(sample.origin.input)].prefix()},
                   {"stage", sample.origin.stage},
                   {"epoch", sample.origin.epoch},
                   {"tokens", sample.tokens},
                   {"targets", sample.targets},
                   {"loss_mask", mask},
                   {"segments", sample.segments},
                   {"positions", sample.positions},
                   {"documents", pieces}});
  }
  const Json step = {{"step", options.step}, {"samples", all}};
  std::printf("%s\n", step.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  return absl::OkStatus();
}

absl::Status checkRequest(const Config &config, const ShowStepOptions &options) {
  if (options.step < 1 || options.step > config.train.steps)
    return withExitCode(absl::InvalidArgumentError(absl::StrCat(
                            "--step ", options.step, ": the run has steps 1 to ", config.train.steps)),
                        ExitCode::Config);
  if (options.microbatch && (*options.microbatch < 0 || *options.microbatch >= config.microBatches()))
    return withExitCode(absl::InvalidArgumentError(absl::StrCat("--microbatch ", *options.microbatch,
                                                                ": a data rank has microbatches 0 to ",
                                                                config.microBatches() - 1, " in a step")),
                        ExitCode::Config);
  return absl::OkStatus();
}

absl::Status show(const ShowStepOptions &options) {
  absl::StatusOr<LoadedConfig> loaded = loadConfig(options.file, options.overrides);
  if (!loaded.ok())
    return withExitCode(loaded.status(), ExitCode::Config);
  const Config &config = loaded->config;
  if (absl::Status status = checkRequest(config, options); !status.ok())
    return status;
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = createTokenizer(config.tokenizer);
  if (!tokenizer.ok())
    return withExitCode(tokenizer.status(), ExitCode::Config);
  RunLog log = RunLog::silent();
  absl::StatusOr<std::shared_ptr<const TrainingData>> data =
      openRunData(config, **tokenizer, dataCache(options.runs), log);
  if (!data.ok())
    return data.status();
  absl::StatusOr<std::vector<ShownSample>> samples = readStep(config, **data, options);
  if (!samples.ok())
    return samples.status();
  return options.isJson ? printJson(options, *samples, **data, **tokenizer)
                        : printText(options, *samples, **data, **tokenizer);
}
} // namespace

void showStep(const ShowStepOptions &options) {
  if (absl::Status status = show(options); !status.ok())
    failCommand(status);
}

} // namespace weft
