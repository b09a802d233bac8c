//===- TrainingData.cpp - The k-th sample of a run ------------------------===//
//
// k -> stage; -> (input, index) by its blend; index -> (epoch, position) by division; position -> sample by
// the keyed permutation; sample -> pieces by the layout.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/TrainingData.h"

#include "runtime/data/KeyedPermutation.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace weft {
namespace {

// Validation is ordered by a key of its own, which no seed and input of training share in practice.
constexpr uint64_t validationSeed = 0x76616c6964617465;
constexpr int64_t validationStage = -2;
constexpr int64_t mostSamples = int64_t{1} << 50;

absl::Status checkOptions(const DataOptions &options) {
  if (options.sequenceLength < 1)
    return absl::InvalidArgumentError(
        absl::StrCat("data.sequence_length: ", options.sequenceLength, " is not at least 1"));
  if (!(options.validationFraction >= 0 && options.validationFraction < 1))
    return absl::InvalidArgumentError(
        absl::StrCat("data.validation_fraction: ", options.validationFraction, " is not in [0, 1)"));
  return absl::OkStatus();
}

/// Refuses an input too short to give a sample to each split that is wanted.
absl::Status checkSamples(const IndexedDataset &dataset, const SampleLayout &layout,
                          const DataOptions &options) {
  const bool isCut = options.packing == SamplePacking::Split || options.packing == SamplePacking::Documents;
  const int64_t window = isCut ? options.sequenceLength + 1 : 1;
  const std::string sample = isCut ? absl::StrCat("one sample of ", window, " tokens") : "one sample";
  const int64_t heldOut = layout.split().heldOutTokens();
  std::string held = heldOut == 0 ? "" : absl::StrCat(", of which ", heldOut, " are held out,");
  if (layout.samples(Split::Training) == 0)
    return absl::InvalidArgumentError(absl::StrCat(
        dataset.prefix(), ".idx: ", dataset.tokens(), " tokens", held, " are fewer than ", sample,
        isCut ? " (data.sequence_length + 1)" : "", ". Use more text or a shorter sequence."));
  if (options.validationFraction > 0 && layout.samples(Split::Validation) == 0)
    return absl::InvalidArgumentError(absl::StrCat(
        dataset.prefix(), ".idx: data.validation_fraction ", options.validationFraction, " of ",
        dataset.tokens(), " tokens holds out ", heldOut, ", fewer than ", sample, ". Use at least ",
        static_cast<double>(window + 1) / static_cast<double>(dataset.tokens()),
        ", or 0 to validate with nothing."));
  return absl::OkStatus();
}

} // namespace

/// The datasets of a stage. The n-th time that a stage names a path is the n-th time of every other stage.
absl::StatusOr<std::vector<size_t>>
TrainingData::openInputs(std::span<const DataInput> from,
                         std::vector<std::pair<std::string, size_t>> &known) {
  std::vector<size_t> result;
  for (size_t i = 0; i < from.size(); ++i) {
    const std::string prefix = datasetPrefix(from[i].path);
    const auto times = static_cast<size_t>(
        std::count_if(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const DataInput &other) { return datasetPrefix(other.path) == prefix; }));
    const std::pair<std::string, size_t> name(prefix, times);
    const auto found = std::find(known.begin(), known.end(), name);
    result.push_back(static_cast<size_t>(found - known.begin()));
    if (found != known.end())
      continue;
    absl::StatusOr<IndexedDataset> dataset = IndexedDataset::open(prefix);
    if (!dataset.ok())
      return dataset.status();
    const HeldOutSplit split(dataset->tokens(), options.validationFraction, options.sequenceLength);
    SampleLayout layout(dataset->index(), split, options.packing, options.sequenceLength);
    if (absl::Status status = checkSamples(*dataset, layout, options); !status.ok())
      return status;
    known.push_back(name);
    inputs.push_back(*std::move(dataset));
    layouts.push_back(std::move(layout));
  }
  return result;
}

absl::Status TrainingData::addStages(std::span<const DataStage> from) {
  std::vector<std::pair<std::string, size_t>> known;
  std::vector<int64_t> given; // samples of each input, in earlier stages
  int64_t firstSample = 0;
  for (size_t s = 0; s < from.size(); ++s) {
    const DataStage &stage = from[s];
    const bool isLast = s + 1 == from.size();
    if (isLast != (stage.tokens == 0) || stage.tokens < 0)
      return absl::InvalidArgumentError(
          absl::StrCat("data.stages[", s, "].tokens: ", stage.tokens,
                       isLast ? ", but the last stage goes on to the end of the run. Leave it out."
                              : " is not at least 1: only the last stage goes on to the end of the run"));
    std::vector<double> weights;
    for (const DataInput &input : stage.inputs)
      weights.push_back(input.weight);
    absl::StatusOr<BlendOrder> blend = BlendOrder::create(weights, stage.key);
    if (!blend.ok())
      return blend.status();
    absl::StatusOr<std::vector<size_t>> opened = openInputs(stage.inputs, known);
    if (!opened.ok())
      return opened.status();
    given.resize(inputs.size());
    std::vector<int64_t> firstOfInput;
    for (size_t input : *opened)
      firstOfInput.push_back(given[input]);
    const int64_t count =
        stage.tokens / options.sequenceLength + (stage.tokens % options.sequenceLength != 0 ? 1 : 0);
    if (firstSample > mostSamples - count)
      return absl::InvalidArgumentError(
          absl::StrCat("data.stages[", s, "].tokens: ", stage.tokens, " leads beyond 2^50 samples"));
    if (!isLast) {
      const std::vector<int64_t> counts = blend->counts(count);
      for (size_t i = 0; i < opened->size(); ++i)
        given[(*opened)[i]] += counts[i];
    }
    stages.push_back({firstSample, *opened, std::move(weights), std::move(firstOfInput), *std::move(blend)});
    firstSample += count;
  }
  return absl::OkStatus();
}

/// Validation takes every input by its weight, or of several stages by its largest share.
absl::Status TrainingData::addValidation() {
  std::vector<double> shares(inputs.size());
  for (const Stage &stage : stages) {
    const double sum =
        stages.size() == 1 ? 1 : std::accumulate(stage.weights.begin(), stage.weights.end(), 0.0);
    for (size_t i = 0; i < stage.inputs.size(); ++i)
      shares[stage.inputs[i]] = std::max(shares[stage.inputs[i]], stage.weights[i] / sum);
  }
  absl::StatusOr<BlendOrder> blend = BlendOrder::create(shares, "data.stages");
  if (!blend.ok())
    return blend.status();
  validation = *std::move(blend);
  return absl::OkStatus();
}

absl::StatusOr<TrainingData> TrainingData::open(std::span<const DataStage> stages,
                                                const DataOptions &options) {
  if (absl::Status status = checkOptions(options); !status.ok())
    return status;
  TrainingData data(options);
  if (absl::Status status = data.addStages(stages); !status.ok())
    return status;
  if (absl::Status status = data.addValidation(); !status.ok())
    return status;
  return data;
}

int64_t TrainingData::samples(Split split) const {
  int64_t total = 0;
  for (const SampleLayout &layout : layouts)
    total += layout.samples(split);
  return total;
}

int64_t TrainingData::tokens() const {
  int64_t total = 0;
  for (const IndexedDataset &input : inputs)
    total += input.tokens();
  return total;
}

int64_t TrainingData::heldOutTokens() const {
  int64_t total = 0;
  for (const SampleLayout &layout : layouts)
    total += layout.split().heldOutTokens();
  return total;
}

TrainingData::Place TrainingData::place(Split split, int64_t k, SampleScratch &scratch) const {
  const bool isTraining = split == Split::Training;
  int64_t number = validationStage;
  if (isTraining) {
    const auto behind = std::upper_bound(stages.begin(), stages.end(), k,
                                         [](int64_t k, const Stage &stage) { return k < stage.firstSample; });
    number = behind - stages.begin() - 1;
  }
  if (scratch.stage != number) {
    scratch.stage = number;
    scratch.block.number = -1;
  }
  int64_t input, index;
  if (isTraining) {
    const Stage &stage = stages[static_cast<size_t>(number)];
    const BlendOrder::Pick pick = stage.blend.pick(k - stage.firstSample, scratch.block);
    input = static_cast<int64_t>(stage.inputs[static_cast<size_t>(pick.input)]);
    index = stage.firstOfInput[static_cast<size_t>(pick.input)] + pick.index;
  } else {
    const BlendOrder::Pick pick = validation->pick(k, scratch.block);
    input = pick.input;
    index = pick.index;
  }
  const int64_t count = layouts[static_cast<size_t>(input)].samples(split);
  const int64_t epoch = index / count;
  // Every pass of validation is the first one: the same samples whenever it is run.
  const uint64_t key =
      isTraining ? orderKey(options.seed, static_cast<uint64_t>(input), static_cast<uint64_t>(epoch))
                 : orderKey(validationSeed, static_cast<uint64_t>(input), 0);
  return {isTraining ? number : 0, input, epoch, KeyedPermutation(key, count)(index % count)};
}

absl::Status TrainingData::read(Split split, int64_t k, const Sample &sample, SampleScratch &scratch) const {
  const Place from = place(split, k, scratch);
  const IndexedDataset &dataset = inputs[static_cast<size_t>(from.input)];
  layouts[static_cast<size_t>(from.input)].sample(dataset.index(), split, from.sample, scratch.packing,
                                                  scratch.pieces);
  size_t at = 0;
  int32_t segment = 0;
  auto describe = [&](int32_t number, size_t length) {
    if (!sample.segments.empty())
      std::fill_n(sample.segments.begin() + static_cast<std::ptrdiff_t>(at), length, number);
    if (!sample.positions.empty())
      std::iota(sample.positions.begin() + static_cast<std::ptrdiff_t>(at),
                sample.positions.begin() + static_cast<std::ptrdiff_t>(at + length), 0);
  };
  for (const SamplePiece &piece : scratch.pieces) {
    const auto length = static_cast<size_t>(piece.length);
    const std::span<int32_t> tokens = sample.tokens.subspan(at, length);
    const std::span<int32_t> targets = sample.targets.subspan(at, length);
    if (absl::Status status = dataset.read(piece.begin, tokens, options.vocabularySize); !status.ok())
      return status;
    std::copy(tokens.begin() + 1, tokens.end(), targets.begin());
    targets.back() = kNoTarget;
    if (piece.goesOn)
      if (absl::Status status =
              dataset.read(piece.begin + piece.length, targets.last(1), options.vocabularySize);
          !status.ok())
        return status;
    describe(++segment, length);
    at += length;
  }
  std::fill(sample.tokens.begin() + static_cast<std::ptrdiff_t>(at), sample.tokens.end(), 0);
  std::fill(sample.targets.begin() + static_cast<std::ptrdiff_t>(at), sample.targets.end(), kNoTarget);
  describe(0, sample.tokens.size() - at);
  return absl::OkStatus();
}

SampleOrigin TrainingData::origin(Split split, int64_t k) const {
  SampleScratch scratch;
  const Place from = place(split, k, scratch);
  const auto input = static_cast<size_t>(from.input);
  layouts[input].sample(inputs[input].index(), split, from.sample, scratch.packing, scratch.pieces);
  return {from.stage, from.input, from.epoch, std::move(scratch.pieces)};
}

std::string TrainingData::describe(Split split, int64_t k) const {
  const SampleOrigin from = origin(split, k);
  const SamplePiece &first = from.pieces.front();
  const size_t others = from.pieces.size() - 1;
  return absl::StrCat(inputs[static_cast<size_t>(from.input)].prefix(),
                      others == 0 ? ": document " : ": documents ", first.document,
                      others == 0 ? "" : absl::StrCat(" and ", others, " more"), ", token ", first.begin,
                      ", epoch ", from.epoch);
}

uint64_t TrainingData::checksum() const {
  std::vector<uint64_t> contents;
  for (const IndexedDataset &input : inputs)
    contents.push_back(input.checksum());
  uint64_t sum = 0;
  for (const Stage &stage : stages) {
    if (stage.firstSample > 0)
      sum = XXH64(&stage.firstSample, sizeof(stage.firstSample), sum);
    for (size_t i = 0; i < stage.inputs.size(); ++i) {
      struct {
        uint64_t contents;
        double weight;
      } words = {contents[stage.inputs[i]], stage.weights[i]};
      sum = XXH64(&words, sizeof(words), sum);
    }
  }
  return sum;
}

} // namespace weft
