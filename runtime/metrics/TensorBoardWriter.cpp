//===- TensorBoardWriter.cpp - Scalars for TensorBoard --------------------===//
//
// TensorBoard reads the files of a folder in the order of their names, which begin with the time of their
// making; the process id and a count keep apart two that are made in one second.
//
//===----------------------------------------------------------------------===//
#include "runtime/metrics/TensorBoardWriter.h"

#include "runtime/metrics/TensorBoardEvent.h"
#include "runtime/metrics/TfRecord.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft {
namespace {

absl::Status eventFileError(const std::string &path, const char *action, int error) {
  return absl::UnavailableError(absl::StrCat(path, ": cannot ", action, ": ", std::strerror(error)));
}

double secondsSinceEpoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace

absl::StatusOr<TensorBoardWriter> TensorBoardWriter::open(const std::string &folder, int64_t firstStep) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return eventFileError(folder, "make the folder", error.value());
  char host[256] = "localhost";
  ::gethostname(host, sizeof(host) - 1);
  double now = secondsSinceEpoch();
  std::string path;
  int descriptor = -1;
  for (int count = 0; descriptor < 0; ++count) {
    std::string name = absl::StrFormat("events.out.tfevents.%010d.%s.%d.%d", static_cast<int64_t>(now), host,
                                       static_cast<int>(::getpid()), count);
    path = (std::filesystem::path(folder) / name).string();
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST)
      return eventFileError(path, "create", errno);
  }
  TensorBoardWriter writer(path, descriptor);
  TensorBoardEvent version(now);
  version.setFileVersion("brain.Event:2");
  TensorBoardEvent start(now);
  start.setStep(firstStep);
  start.setStart();
  for (const TensorBoardEvent &event : {version, start})
    if (absl::Status status = writer.writeRecord(event.bytes()); !status.ok())
      return status;
  return writer;
}

TensorBoardWriter::TensorBoardWriter(TensorBoardWriter &&other) noexcept
    : filePath(std::move(other.filePath)), descriptor(std::exchange(other.descriptor, -1)) {}

TensorBoardWriter::~TensorBoardWriter() {
  if (descriptor >= 0)
    ::close(descriptor);
}

absl::Status TensorBoardWriter::append(const StepMetrics &metrics) {
  TensorBoardEvent event(metrics.time);
  event.setStep(metrics.step);
  for (const auto &[name, number] : namedValues(metrics)) {
    if (name == "time")
      continue; // it is the wall time of the event
    event.addScalar(name, static_cast<float>(number));
  }
  return writeRecord(event.bytes());
}

absl::Status TensorBoardWriter::writeRecord(const std::string &event) {
  std::string bytes = frameRecord(event);
  size_t written = 0;
  while (written < bytes.size()) {
    ssize_t count = ::write(descriptor, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return eventFileError(filePath, "write", errno);
    written += static_cast<size_t>(count);
  }
  return absl::OkStatus();
}

} // namespace weft
