//===- DatasetDescription.h - Which tokenizer a dataset was made with -----===//
//
// Neither PREFIX.bin nor PREFIX.idx has room for it, so `weft data prepare` writes PREFIX.dataset.json beside
// them: one line of JSON with the checksums of the dataset and of the tokenizer. Training over the ids of
// another tokenizer would be silent nonsense; this is how it is noticed. A dataset without it, Megatron's for
// example, is as good as any: then nobody knows.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_DATASETDESCRIPTION_H
#define WEFT_RUNTIME_DATA_DATASETDESCRIPTION_H

#include "runtime/data/IndexedDataset.h"
#include "runtime/tokenizer/Tokenizer.h"

#include "absl/status/status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weft {

struct DatasetDescription {
  std::string tokenizerKind;
  uint64_t tokenizerChecksum = 0;
};

/// Writes PREFIX.dataset.json of a dataset that `tokenizer` encoded.
absl::Status describeDataset(const IndexedDataset &dataset, const Tokenizer &tokenizer);

/// What PREFIX.dataset.json says, if it is there and about this very dataset.
std::optional<DatasetDescription> readDescription(const IndexedDataset &dataset);

/// Refuses a dataset of which it is known that another tokenizer encoded it.
absl::Status checkTokenizer(const IndexedDataset &dataset, const Tokenizer &tokenizer);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_DATASETDESCRIPTION_H
