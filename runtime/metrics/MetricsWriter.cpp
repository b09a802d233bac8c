//===- MetricsWriter.cpp - metrics.jsonl of a run -------------------------===//
//
// Steps ascend in the file, so the part to keep is a prefix: its end is found by reading lines, and ftruncate
// makes it the end of the file.
//
//===----------------------------------------------------------------------===//
#include "runtime/metrics/MetricsWriter.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace weft {
namespace {

absl::Status metricsError(const std::string &path, const char *action) {
  int error = errno;
  std::string message = absl::StrCat(path, ": cannot ", action, ": ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT)
    return absl::ResourceExhaustedError(absl::StrCat(message, ". Free space there."));
  return absl::UnavailableError(message);
}

/// Bytes of the lines up to step `lastStep`.
absl::StatusOr<int64_t> bytesThroughStep(const std::string &path, int64_t lastStep) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  int64_t bytes = 0;
  for (int64_t lineNumber = 1; lastStep > 0 && std::getline(file, line) && !file.eof(); ++lineNumber) {
    absl::StatusOr<StepMetrics> record = parseJsonLine(line);
    if (!record.ok())
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", lineNumber, ": ", record.status().message(),
                       ". Move the file away to go on without the earlier steps."));
    if (record->step > lastStep)
      break;
    bytes += static_cast<int64_t>(line.size()) + 1;
  }
  return bytes;
}

} // namespace

absl::StatusOr<MetricsWriter> MetricsWriter::open(const std::string &path, int64_t lastStep) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return metricsError(path, "open");
  MetricsWriter writer(path, descriptor);
  absl::StatusOr<int64_t> bytes = bytesThroughStep(path, lastStep);
  if (!bytes.ok())
    return bytes.status();
  if (::ftruncate(descriptor, *bytes) != 0)
    return metricsError(path, "cut");
  if (absl::Status status = writer.sync(); !status.ok())
    return status;
  return writer;
}

MetricsWriter::MetricsWriter(MetricsWriter &&other) noexcept
    : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)) {}

MetricsWriter::~MetricsWriter() {
  if (descriptor >= 0)
    ::close(descriptor);
}

absl::Status MetricsWriter::append(const StepMetrics &metrics) {
  std::string line = jsonLine(metrics);
  size_t written = 0;
  while (written < line.size()) {
    ssize_t count = ::write(descriptor, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return metricsError(path, "write");
    written += static_cast<size_t>(count);
  }
  return absl::OkStatus();
}

absl::Status MetricsWriter::sync() {
  // A pipe or a terminal has nothing to sync, and says so.
  if (::fsync(descriptor) != 0 && errno != EINVAL)
    return metricsError(path, "sync to the disk");
  return absl::OkStatus();
}

} // namespace weft
