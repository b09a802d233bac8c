//===- TrainingData.cpp - The k-th sample of a run ------------------------===//
//
// k -> (input, index) by the blend; index -> (epoch, position) by division; position -> sample by the keyed
// permutation; sample -> first token by the split.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/TrainingData.h"

#include "runtime/data/KeyedPermutation.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

// Validation is ordered by a key of its own, which no seed and input of training share in practice.
constexpr uint64_t validationSeed = 0x76616c6964617465;

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
absl::Status checkSplit(const IndexedDataset &dataset, const HeldOutSplit &split,
                        const DataOptions &options) {
  int64_t window = options.sequenceLength + 1;
  int64_t heldOut = split.heldOutTokens();
  std::string held = heldOut == 0 ? "" : absl::StrCat(", of which ", heldOut, " are held out,");
  if (split.samples(Split::Training) == 0)
    return absl::InvalidArgumentError(absl::StrCat(
        dataset.prefix(), ".idx: ", dataset.tokens(), " tokens", held, " are fewer than one sample of ",
        window, " tokens (data.sequence_length + 1). Use more text or a shorter sequence."));
  if (options.validationFraction > 0 && split.samples(Split::Validation) == 0)
    return absl::InvalidArgumentError(absl::StrCat(
        dataset.prefix(), ".idx: data.validation_fraction ", options.validationFraction, " of ",
        dataset.tokens(), " tokens holds out ", heldOut, ", fewer than one sample of ", window,
        " tokens. Use at least ", static_cast<double>(window + 1) / static_cast<double>(dataset.tokens()),
        ", or 0 to validate with nothing."));
  return absl::OkStatus();
}

} // namespace

TrainingData::TrainingData(std::vector<IndexedDataset> inputs, std::vector<HeldOutSplit> splits,
                           std::vector<double> weights, BlendOrder blend, const DataOptions &options)
    : inputs(std::move(inputs)), splits(std::move(splits)), weights(std::move(weights)),
      blend(std::move(blend)), options(options) {}

absl::StatusOr<TrainingData> TrainingData::open(std::span<const DataInput> inputs,
                                                const DataOptions &options) {
  if (absl::Status status = checkOptions(options); !status.ok())
    return status;
  std::vector<double> weights;
  for (const DataInput &input : inputs)
    weights.push_back(input.weight);
  absl::StatusOr<BlendOrder> blend = BlendOrder::create(weights);
  if (!blend.ok())
    return blend.status();
  std::vector<IndexedDataset> datasets;
  std::vector<HeldOutSplit> splits;
  for (const DataInput &input : inputs) {
    absl::StatusOr<IndexedDataset> dataset = IndexedDataset::open(input.path);
    if (!dataset.ok())
      return dataset.status();
    HeldOutSplit split(dataset->tokens(), options.validationFraction, options.sequenceLength);
    if (absl::Status status = checkSplit(*dataset, split, options); !status.ok())
      return status;
    datasets.push_back(std::move(*dataset));
    splits.push_back(split);
  }
  return TrainingData(std::move(datasets), std::move(splits), std::move(weights), std::move(*blend), options);
}

int64_t TrainingData::samples(Split split) const {
  int64_t total = 0;
  for (const HeldOutSplit &input : splits)
    total += input.samples(split);
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
  for (const HeldOutSplit &split : splits)
    total += split.heldOutTokens();
  return total;
}

TrainingData::Place TrainingData::place(Split split, int64_t k) const {
  BlendOrder::Pick pick = blend.pick(k);
  const HeldOutSplit &held = splits[pick.input];
  int64_t count = held.samples(split);
  int64_t epoch = pick.index / count;
  uint64_t seed = split == Split::Training ? options.seed : validationSeed;
  // Every pass of validation is the first one: the same samples whenever it is run.
  uint64_t keyEpoch = split == Split::Training ? static_cast<uint64_t>(epoch) : 0;
  KeyedPermutation order(orderKey(seed, static_cast<uint64_t>(pick.input), keyEpoch), count);
  return {pick.input, epoch, held.sampleBegin(split, order(pick.index % count))};
}

absl::Status TrainingData::read(Split split, int64_t k, std::span<int32_t> tokens,
                                std::span<int32_t> targets) const {
  Place from = place(split, k);
  const IndexedDataset &dataset = inputs[from.input];
  if (absl::Status status = dataset.read(from.firstToken, tokens, options.vocabularySize); !status.ok())
    return status;
  std::copy(tokens.begin() + 1, tokens.end(), targets.begin());
  return dataset.read(from.firstToken + options.sequenceLength, targets.last(1), options.vocabularySize);
}

SampleOrigin TrainingData::origin(Split split, int64_t k) const {
  Place from = place(split, k);
  return {from.input, from.epoch, from.firstToken,
          inputs[from.input].index().documentOfToken(from.firstToken)};
}

std::string TrainingData::describe(Split split, int64_t k) const {
  SampleOrigin from = origin(split, k);
  return absl::StrCat(inputs[from.input].prefix(), ": document ", from.document, ", token ", from.firstToken,
                      ", epoch ", from.epoch);
}

uint64_t TrainingData::checksum() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    struct {
      uint64_t contents;
      double weight;
    } words = {inputs[i].checksum(), weights[i]};
    sum = XXH64(&words, sizeof(words), sum);
  }
  return sum;
}

} // namespace weft
