//===- ScheduleTrace.cpp - A planned schedule as a Perfetto trace ---------===//
//
// The format is "Trace Event Format": ts and dur in microseconds.
//
//===----------------------------------------------------------------------===//
#include "compiler/schedule/ScheduleTrace.h"

#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

namespace weft {

using namespace schedules;

static constexpr double microseconds = 1000;

std::string scheduleTrace(const PipelineSchedule &schedule, const Timeline &timeline,
                          const ActionTimes &times) {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  const auto describe = [&](const char *what, int rank, const std::string &name) {
    events.push_back({{"name", what}, {"ph", "M"}, {"pid", 0}, {"tid", rank}, {"args", {{"name", name}}}});
  };
  describe("process_name", 0, absl::StrCat("plan: ", schedule.name));
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    describe("thread_name", rank, absl::StrCat("rank ", rank));
    int held = 0;
    const auto count = [&](double at) {
      events.push_back({{"name", absl::StrCat("held by rank ", rank)},
                        {"ph", "C"},
                        {"pid", 0},
                        {"ts", at * microseconds},
                        {"args", {{"chunks", held}}}});
    };
    for (size_t index = 0; index < schedule.actions[rank].size(); ++index) {
      const Action &action = schedule.actions[rank][index];
      const double start = timeline.start[rank][index], duration = times.of(action.kind, schedule.chunks);
      events.push_back({{"name", toString(action)},
                        {"cat", std::string(letters(action.kind))},
                        {"ph", "X"},
                        {"pid", 0},
                        {"tid", rank},
                        {"ts", start * microseconds},
                        {"dur", duration * microseconds},
                        {"args", {{"stage", action.stage}, {"microbatch", action.microbatch}}}});
      if (action.kind == ActionKind::Forward)
        ++held, count(start);
      else if (releases(action.kind))
        --held, count(start + duration);
    }
  }
  const Json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  // A name may be a file's: what is not UTF-8 in it is replaced.
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace weft
