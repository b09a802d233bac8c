//===- ScheduleFuzzer.cpp - Any bytes as a schedule -----------------------===//
//
// Reading ends with a schedule or with an error that says file, line and column. What was read is written
// back and reads as the same; it verifies or is refused with a message; and what verifies runs to its end.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/ScheduleText.h"
#include "passes/pipeline/schedules/Timeline.h"
#include "passes/pipeline/schedules/VerifySchedule.h"

#include <cstdio>
#include <cstdlib>

using namespace weft::schedules;

static void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  absl::StatusOr<PipelineSchedule> schedule = parseSchedule(text, "any");
  if (!schedule.ok()) {
    int line = 0, column = 0;
    std::string message(schedule.status().message());
    require(std::sscanf(message.c_str(), "any:%d:%d: ", &line, &column) == 2 && line > 0 && column > 0,
            "an error without its place");
    return 0;
  }
  absl::StatusOr<PipelineSchedule> again = parseSchedule(printSchedule(*schedule), "any");
  require(again.ok() && *again == *schedule, "a schedule does not read back from its text");
  absl::Status verified = verifySchedule(*schedule);
  require(verified.ok() || !verified.message().empty(), "a refusal without a message");
  absl::StatusOr<Timeline> timeline = verified.ok() ? simulate(*schedule, {}) : absl::UnknownError("");
  require(timeline.ok() == verified.ok(), "a verified schedule does not run to its end");
  return 0;
}
