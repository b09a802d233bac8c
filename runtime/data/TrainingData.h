//===- TrainingData.h - The k-th sample of a run --------------------------===//
//
// Inputs, split, blend and order joined: sample k of a run is a pure function of (seed, k), whatever the
// mesh, the micro batch and the step the run was resumed at. An input is visited in passes ("epochs"); each
// pass takes every sample once, in an order of its own. Validation has an order that does not depend on the
// seed, so that any two runs over the same data validate with the same samples.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_TRAININGDATA_H
#define WEFT_RUNTIME_DATA_TRAININGDATA_H

#include "runtime/data/BlendOrder.h"
#include "runtime/data/HeldOutSplit.h"
#include "runtime/data/IndexedDataset.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// A prepared dataset (PREFIX, PREFIX.idx or PREFIX.bin) and its weight in the blend.
struct DataInput {
  std::string path;
  double weight = 1.0;
};

struct DataOptions {
  int64_t sequenceLength = 0; ///< T: a sample has T inputs and T targets
  double validationFraction = 0;
  uint64_t seed = 0;
  int32_t vocabularySize = 0; ///< tokens at or above it are refused
};

/// Where a sample comes from, for messages about it.
struct SampleOrigin {
  int64_t input;      ///< index into the inputs
  int64_t epoch;      ///< pass over that input
  int64_t firstToken; ///< number of its first token in the input's stream
  int64_t document;   ///< the document that holds that token
};

class TrainingData {
public:
  /// Opens and checks all inputs. Refuses one that has not a single sample of a split that is wanted.
  static absl::StatusOr<TrainingData> open(std::span<const DataInput> inputs, const DataOptions &options);

  /// Samples of one pass over all inputs.
  int64_t samples(Split split) const;
  int64_t tokens() const;
  int64_t heldOutTokens() const;
  int64_t sequenceLength() const { return options.sequenceLength; }
  const std::vector<IndexedDataset> &datasets() const { return inputs; }

  /// Sample `k` >= 0 of the run: `tokens` and `targets` have sequenceLength() elements, targets[i] follows
  /// tokens[i]. Allocates nothing unless it fails.
  absl::Status read(Split split, int64_t k, std::span<int32_t> tokens, std::span<int32_t> targets) const;

  SampleOrigin origin(Split split, int64_t k) const;
  /// `PREFIX: document D, token N, epoch E`.
  std::string describe(Split split, int64_t k) const;

  /// Checksum of the contents and weights of all inputs, in order: equal data, equal checksum.
  uint64_t checksum() const;

private:
  TrainingData(std::vector<IndexedDataset> inputs, std::vector<HeldOutSplit> splits,
               std::vector<double> weights, BlendOrder blend, const DataOptions &options);

  struct Place {
    int64_t input;
    int64_t epoch;
    int64_t firstToken;
  };
  Place place(Split split, int64_t k) const;

  std::vector<IndexedDataset> inputs;
  std::vector<HeldOutSplit> splits;
  std::vector<double> weights;
  BlendOrder blend;
  DataOptions options;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_TRAININGDATA_H
