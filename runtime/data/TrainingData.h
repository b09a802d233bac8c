//===- TrainingData.h - The k-th sample of a run --------------------------===//
//
// Stages, inputs, split, packing, blend and order joined: sample k of a run is a pure function of (seed, k),
// whatever the mesh, the micro batch and the step the run was resumed at. An input is visited in passes
// ("epochs"); each pass takes every sample once, in an order of its own. An input that several stages name
// goes on in each where it was. Validation has an order that does not depend on the seed, so that any two
// runs over the same data validate with the same samples.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_TRAININGDATA_H
#define WEFT_RUNTIME_DATA_TRAININGDATA_H

#include "runtime/data/BlendOrder.h"
#include "runtime/data/IndexedDataset.h"
#include "runtime/data/SampleLayout.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// A prepared dataset (PREFIX, PREFIX.idx or PREFIX.bin) and its weight in the blend.
struct DataInput {
  std::string path;
  double weight = 1.0;
};

/// What is blended for a while.
struct DataStage {
  std::vector<DataInput> inputs;
  /// Tokens after which the next stage follows, up to a whole sample; of the last stage none: it has no end.
  int64_t tokens = 0;
  std::string key = "data.train"; ///< of the list of inputs, for messages
};

struct DataOptions {
  int64_t sequenceLength = 0; ///< T: a sample has T inputs and T targets
  double validationFraction = 0;
  uint64_t seed = 0;
  int32_t vocabularySize = 0; ///< tokens at or above it are refused
  SamplePacking packing = SamplePacking::Split;
};

/// The target of a token that has none: the last of a document, and padding.
inline constexpr int32_t kNoTarget = -100;

/// One sample of T tokens; the caller owns them. What is not wanted is empty.
struct Sample {
  std::span<int32_t> tokens;
  std::span<int32_t> targets;        ///< the token that follows, or kNoTarget
  std::span<int32_t> segments = {};  ///< which document of the sample, from 1; 0: padding
  std::span<int32_t> positions = {}; ///< from 0 in each segment
};

/// Where a sample comes from, for messages about it.
struct SampleOrigin {
  int64_t stage;
  int64_t input;                   ///< index into the datasets
  int64_t epoch;                   ///< pass over that input
  std::vector<SamplePiece> pieces; ///< with `split`, one that goes over the ends of documents
};

/// What reading keeps from one sample to the next, so that it allocates nothing once it is warm. Whatever is
/// in it, a sample is the same.
struct SampleScratch {
  int64_t stage = -1; ///< whose block it is
  BlendOrder::Block block;
  DocumentPacking::Scratch packing;
  std::vector<SamplePiece> pieces;
};

class TrainingData {
public:
  /// Opens and checks all inputs. Refuses one that has not a single sample of a split that is wanted.
  static absl::StatusOr<TrainingData> open(std::span<const DataStage> stages, const DataOptions &options);

  /// Samples of one pass over all inputs.
  int64_t samples(Split split) const;
  int64_t tokens() const;
  int64_t heldOutTokens() const;
  int64_t sequenceLength() const { return options.sequenceLength; }
  const std::vector<IndexedDataset> &datasets() const { return inputs; }

  /// Sample `k` >= 0 of the run.
  absl::Status read(Split split, int64_t k, const Sample &sample, SampleScratch &scratch) const;

  SampleOrigin origin(Split split, int64_t k) const;
  /// `PREFIX: document D, token N, epoch E`, of several documents `documents D and 3 more`.
  std::string describe(Split split, int64_t k) const;

  /// Checksum of the contents and weights of all inputs, in order: equal data, equal checksum.
  uint64_t checksum() const;

private:
  /// A stage that began with sample `firstSample` of the run, `firstOfInput[i]` of its i-th input.
  struct Stage {
    int64_t firstSample;
    std::vector<size_t> inputs;
    std::vector<double> weights;
    std::vector<int64_t> firstOfInput;
    BlendOrder blend;
  };

  explicit TrainingData(const DataOptions &options) : options(options) {}
  absl::StatusOr<std::vector<size_t>> openInputs(std::span<const DataInput> from,
                                                 std::vector<std::pair<std::string, size_t>> &known);
  absl::Status addStages(std::span<const DataStage> from);
  absl::Status addValidation();

  struct Place {
    int64_t stage;
    int64_t input;
    int64_t epoch;
    int64_t sample; ///< of the input's layout
  };
  Place place(Split split, int64_t k, SampleScratch &scratch) const;

  DataOptions options;
  std::vector<IndexedDataset> inputs;
  std::vector<SampleLayout> layouts;
  std::vector<Stage> stages;
  std::optional<BlendOrder> validation; ///< of all inputs
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_TRAININGDATA_H
