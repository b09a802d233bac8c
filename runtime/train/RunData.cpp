//===- RunData.cpp - The data that a config names, ready to be read -------===//
//
// Progress is a line every two seconds: short preparations say nothing.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/RunData.h"

#include "runtime/data/Prepare.h"
#include "runtime/metrics/HumanFormat.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft {
namespace {

constexpr double kSecondsBetweenLines = 2.0;

PrepareOptions withProgress(const std::string &path, RunLog &log) {
  PrepareOptions options;
  options.onProgress = [&log, path, last = 0.0](const PrepareProgress &progress) mutable {
    if (progress.seconds - last < kSecondsBetweenLines || progress.bytesTotal <= 0)
      return;
    last = progress.seconds;
    log.line(absl::StrFormat("preparing %s: %.0f %%, %s tokens, %s left", path,
                             100.0 * static_cast<double>(progress.bytesRead) /
                                 static_cast<double>(progress.bytesTotal),
                             formatCount(progress.tokens), formatDuration(progress.secondsLeft)));
  };
  return options;
}

/// The sources of a stage as datasets, prepared if need be.
absl::StatusOr<DataStage> prepareStage(const std::vector<DataSource> &sources, const std::string &key,
                                       const Tokenizer &tokenizer, const std::string &cacheFolder,
                                       RunLog &log) {
  DataStage stage;
  stage.key = key;
  for (const DataSource &source : sources) {
    absl::StatusOr<std::string> prefix =
        prepareIntoCache(source.path, cacheFolder, tokenizer, withProgress(source.path, log));
    if (!prefix.ok())
      return withExitCode(prefix.status(), ExitCode::Data);
    stage.inputs.push_back({*prefix, source.weight});
  }
  return stage;
}

SamplePacking packingOf(Packing packing) {
  switch (packing) {
  case Packing::Split:
    return SamplePacking::Split;
  case Packing::Documents:
    return SamplePacking::Documents;
  case Packing::BestFit:
    return SamplePacking::BestFit;
  case Packing::Pad:
    return SamplePacking::Pad;
  }
  return SamplePacking::Split;
}

} // namespace

absl::StatusOr<std::shared_ptr<const TrainingData>>
openRunData(const Config &config, const Tokenizer &tokenizer, const std::string &cacheFolder, RunLog &log) {
  std::vector<StageConfig> from = config.data.stages;
  if (from.empty())
    from.push_back({0, config.data.train});
  std::vector<DataStage> stages;
  for (size_t i = 0; i < from.size(); ++i) {
    const std::string key =
        config.data.stages.empty() ? "data.train" : absl::StrCat("data.stages[", i, "].train");
    absl::StatusOr<DataStage> stage = prepareStage(from[i].train, key, tokenizer, cacheFolder, log);
    if (!stage.ok())
      return stage.status();
    stage->tokens = from[i].tokens;
    stages.push_back(*std::move(stage));
  }
  DataOptions options;
  options.packing = packingOf(config.data.packing);
  options.sequenceLength = config.data.sequenceLength;
  options.validationFraction = config.data.validationFraction;
  options.seed = static_cast<uint64_t>(config.train.seed);
  options.vocabularySize = programVocabulary(config, tokenizer);
  absl::StatusOr<TrainingData> data = TrainingData::open(stages, options);
  if (!data.ok())
    return withExitCode(data.status(), ExitCode::Data);
  return std::make_shared<const TrainingData>(*std::move(data));
}

int32_t programVocabulary(const Config &config, const Tokenizer &tokenizer) {
  return config.model.program.empty() ? static_cast<int32_t>(config.model.vocabSize)
                                      : tokenizer.vocabularySize();
}

std::string describeData(const Config &config, const TrainingData &data) {
  return absl::StrFormat("data: %s tokens, %.3g %% held out, %s training samples of %d tokens",
                         formatCount(data.tokens()), 100.0 * config.data.validationFraction,
                         formatCount(data.samples(Split::Training)), data.sequenceLength());
}

} // namespace weft
