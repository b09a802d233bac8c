//===- EvaluationSamples.h - What a loss is measured on ---------------------===//
//
// Samples of one length in a fixed order: held-out ones of the run's data, or the windows of a file. A window
// is as long as the model's; the next one begins `stride` tokens behind it, and its targets that an earlier
// one has predicted do not count. So every token of the file is predicted once: the first from the end of a
// document, and in windows that overlap each from at least length - stride tokens before it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_EVALUATIONSAMPLES_H
#define WEFT_RUNTIME_TRAIN_EVALUATIONSAMPLES_H

#include "runtime/data/IndexedDataset.h"
#include "runtime/data/Prepare.h"
#include "runtime/data/TrainingData.h"
#include "runtime/tokenizer/Tokenizer.h"

#include "absl/status/statusor.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace weft {

class EvaluationSamples {
public:
  virtual ~EvaluationSamples() = default;
  virtual int64_t count() const = 0;
  /// Sample `k` below count().
  virtual absl::Status read(int64_t k, const Sample &sample, SampleScratch &scratch) const = 0;
  /// Bytes of the text that all targets stand for, where more is known than the bytes of each.
  virtual std::optional<int64_t> textBytes() const { return std::nullopt; }
};

/// The first `count` samples that the run's data hold out, or all there are.
std::shared_ptr<const EvaluationSamples> heldOutSamples(std::shared_ptr<const TrainingData> data,
                                                        int64_t count);

struct FileSamplesOptions {
  int64_t length = 0;         ///< tokens of a window
  int64_t stride = 0;         ///< from one window to the next: 1 .. length
  int32_t vocabularySize = 0; ///< of the program: tokens at or above it are refused
  PrepareOptions prepare = {};
};

/// The windows of a prepared dataset, or of text or JSONL, which is encoded into a file without a name.
absl::StatusOr<std::shared_ptr<const EvaluationSamples>>
fileSamples(const std::string &path, const Tokenizer &tokenizer, const FileSamplesOptions &options);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_EVALUATIONSAMPLES_H
