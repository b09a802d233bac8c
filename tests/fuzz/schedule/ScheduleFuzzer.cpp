//===- ScheduleFuzzer.cpp - Any bytes as a schedule -----------------------===//
//
// Reading ends with a schedule or with an error that says file, line and column. What was read is written
// back and reads as the same; it verifies or is refused with a message; and what verifies runs to its end.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/ScheduleText.h"
#include "passes/pipeline/schedules/Timeline.h"
#include "passes/pipeline/schedules/VerifySchedule.h"
#include "tests/fuzz/Require.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

using namespace weft::schedules;

/// Whether a message begins with `any:LINE:COLUMN: `, both from 1.
static bool namesItsPlace(const std::string &message) {
  const std::vector<std::string> parts = absl::StrSplit(message, absl::MaxSplits(':', 3));
  int line = 0, column = 0;
  return parts.size() == 4 && parts[0] == "any" && absl::SimpleAtoi(parts[1], &line) && line > 0 &&
         absl::SimpleAtoi(parts[2], &column) && column > 0 && parts[3].starts_with(' ');
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  absl::StatusOr<PipelineSchedule> schedule = parseSchedule(text, "any");
  if (!schedule.ok()) {
    weft::require(namesItsPlace(std::string(schedule.status().message())), "an error without its place");
    return 0;
  }
  absl::StatusOr<PipelineSchedule> again = parseSchedule(printSchedule(*schedule), "any");
  weft::require(again.ok() && *again == *schedule, "a schedule does not read back from its text");
  absl::Status verified = verifySchedule(*schedule);
  weft::require(verified.ok() || !verified.message().empty(), "a refusal without a message");
  absl::StatusOr<Timeline> timeline = verified.ok() ? simulate(*schedule, {}) : absl::UnknownError("");
  weft::require(timeline.ok() == verified.ok(), "a verified schedule does not run to its end");
  return 0;
}
