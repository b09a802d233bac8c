//===- DataRank.h - Which samples a rank reads ----------------------------===//
//
// The ranks that differ on the mesh's `data` axes read samples of their own; those that differ on others work
// on the same samples together. So a rank is one of the data ranks, and of those that share a data rank's
// samples exactly one stands for them where samples, tokens or bytes are counted.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_DATARANK_H
#define WEFT_RUNTIME_TRAIN_DATARANK_H

#include "runtime/config/Config.h"
#include "runtime/executable/Executable.h"
#include "runtime/train/SequencePart.h"

#include "absl/status/statusor.h"

namespace weft {

struct DataRank {
  int64_t index = 0;
  int64_t count = 1;
  bool counts = true; ///< whether it is the one of its data rank that stands for the others
};

DataRank dataRankOf(const Mesh &mesh, int64_t rank);

/// How a batch input of a program takes what this data rank reads: rows of samples, the data ranks one after
/// another; of each sample the positions of the result, and every other dimension whole. `each` is what one
/// data rank gives. FailedPrecondition (exit code config) says what does not fit; `program` names it.
absl::StatusOr<SequencePart> bindBatchInput(const Executable &executable, const Program &program,
                                            const ProgramInput &input, int64_t rank, const TensorType &each,
                                            bool perMicrobatch);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_DATARANK_H
