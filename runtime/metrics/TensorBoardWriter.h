//===- TensorBoardWriter.h - Scalars for TensorBoard ----------------------===//
//
// Every start of a run adds one event file to the folder; its first events say the format and from which step
// on it speaks, so that TensorBoard drops what an earlier, killed process said about those steps.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_METRICS_TENSORBOARDWRITER_H
#define WEFT_RUNTIME_METRICS_TENSORBOARDWRITER_H

#include "runtime/metrics/StepMetrics.h"

#include "absl/status/statusor.h"

#include <string>

namespace weft {

class TensorBoardWriter {
public:
  /// Makes a new event file in `folder`, itself made if need be, for the steps from `firstStep` on.
  static absl::StatusOr<TensorBoardWriter> open(const std::string &folder, int64_t firstStep);

  TensorBoardWriter(TensorBoardWriter &&other) noexcept;
  TensorBoardWriter &operator=(TensorBoardWriter &&) = delete;
  ~TensorBoardWriter();

  /// Adds all values of the step, tagged by their names in metrics.jsonl.
  absl::Status append(const StepMetrics &metrics);

  const std::string &path() const { return filePath; }

private:
  TensorBoardWriter(std::string path, int descriptor) : filePath(std::move(path)), descriptor(descriptor) {}
  absl::Status writeRecord(const std::string &event);

  std::string filePath;
  int descriptor;
};

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_TENSORBOARDWRITER_H
