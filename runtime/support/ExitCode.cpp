//===- ExitCode.cpp - The table of exit codes -----------------------------===//
//
// The one place that says what each code means; `weft --help` and docs/exit_codes.md print it.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/ExitCode.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include <string>

namespace weft {

static constexpr char exitCodeUrl[] = "weft/exit-code";

const std::vector<ExitCodeInfo> &exitCodes() {
  static const std::vector<ExitCodeInfo> codes = {
      {ExitCode::Ok, "ok", "everything asked for was done"},
      {ExitCode::Internal, "internal",
       "a fault of weft itself, or of the machine; please report it with the message"},
      {ExitCode::Config, "config",
       "the command line or the run file is wrong; the message names the key and what would work"},
      {ExitCode::Data, "data", "a data file is missing, empty, damaged or too small"},
      {ExitCode::Checkpoint, "checkpoint",
       "a checkpoint is damaged, does not fit the run, or could not be written (full disk, no permission)"},
      {ExitCode::Stopped, "stopped by signal",
       "SIGTERM or SIGINT came: the step was finished and saved; the same command resumes"},
      {ExitCode::NonFinite, "non-finite",
       "the loss or a gradient was not finite, or the loss spiked, and the policy was to stop"},
      {ExitCode::PeerLost, "peer lost",
       "another rank of the job died or went silent; start the job again, it resumes"},
      {ExitCode::OutOfMemory, "out of memory",
       "the memory plan is over the limit, or the machine refused an allocation; the message says what would "
       "fit"},
  };
  return codes;
}

absl::Status withExitCode(absl::Status status, ExitCode code) {
  if (!status.ok() && !status.GetPayload(exitCodeUrl))
    status.SetPayload(exitCodeUrl, absl::Cord(absl::string_view(std::to_string(static_cast<int>(code)))));
  return status;
}

ExitCode exitCodeOf(const absl::Status &status) {
  if (absl::optional<absl::Cord> payload = status.GetPayload(exitCodeUrl)) {
    int value = 0;
    if (absl::SimpleAtoi(std::string(*payload), &value))
      for (const ExitCodeInfo &info : exitCodes())
        if (static_cast<int>(info.code) == value)
          return info.code;
  }
  switch (status.code()) {
  case absl::StatusCode::kOk:
    return ExitCode::Ok;
  case absl::StatusCode::kResourceExhausted:
    return ExitCode::OutOfMemory;
  case absl::StatusCode::kUnavailable:
    return ExitCode::PeerLost;
  case absl::StatusCode::kCancelled:
    return ExitCode::Stopped;
  default:
    return ExitCode::Internal;
  }
}

} // namespace weft
