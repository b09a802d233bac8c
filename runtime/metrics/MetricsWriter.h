//===- MetricsWriter.h - metrics.jsonl of a run ---------------------------===//
//
// One line a step, each written by one system call: readers may follow the file, and a kill leaves at most
// one torn last line. A resumed run first cuts the file behind the step it resumes from, in one truncation:
// the file holds each step once, whatever happened in between.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_METRICS_METRICSWRITER_H
#define WEFT_RUNTIME_METRICS_METRICSWRITER_H

#include "runtime/metrics/StepMetrics.h"

#include "absl/status/statusor.h"

#include <string>

namespace weft {

class MetricsWriter {
public:
  /// Opens `path`, made if need be, and cuts every line behind step `lastStep` (0: all of them). A line that
  /// cannot be read before that place is refused, named by file and line.
  static absl::StatusOr<MetricsWriter> open(const std::string &path, int64_t lastStep);

  MetricsWriter(MetricsWriter &&other) noexcept;
  MetricsWriter &operator=(MetricsWriter &&) = delete;
  ~MetricsWriter();

  absl::Status append(const StepMetrics &metrics);

  /// All lines so far are on the disk when it returns: to be called before a checkpoint of the step is
  /// complete.
  absl::Status sync();

private:
  MetricsWriter(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}

  std::string path;
  int descriptor;
};

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_METRICSWRITER_H
