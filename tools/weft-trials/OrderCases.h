//===- OrderCases.h - Corpora, blends and batches, drawn -------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_ORDERCASES_H
#define WEFT_TOOLS_WEFT_TRIALS_ORDERCASES_H

#include "runtime/data/TrainingData.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace weft::trials {

/// A folder of datasets, which goes with the object.
class OrderCase {
public:
  static absl::StatusOr<std::unique_ptr<OrderCase>> draw(uint64_t seed);
  ~OrderCase();

  std::shared_ptr<const TrainingData> data;
  std::vector<DataStage> stages; ///< whole numbers as weights
  DataOptions options;
  int64_t globalBatch = 0; ///< a multiple of 24 microbatches: 1, 2, 3 and 8 data ranks divide it
  int64_t microBatch = 0;
  int64_t stepsOfPass = 0; ///< after which the first input has begun its second pass
  std::string text;

private:
  OrderCase() = default;
  std::filesystem::path folder;
};

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_ORDERCASES_H
