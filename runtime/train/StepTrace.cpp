//===- StepTrace.cpp - What a rank did in a step, as a trace shows it -----===//
//
// The format is "Trace Event Format": ts and dur in microseconds, here with nanoseconds behind the point.
// Viewers color by name (Perfetto, without digits) or as `cname` says (chrome://tracing).
//
//===----------------------------------------------------------------------===//
#include "runtime/train/StepTrace.h"

#include "runtime/executable/Communication.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNanosecondsPerMicrosecond = 1000;

/// The letters of a stage's forward or backward: F of 0F, BW of 12BW; empty for any other action.
std::string_view stageLetters(std::string_view action) {
  const size_t digits = std::min(action.find_first_not_of("0123456789"), action.size());
  const std::string_view letters = action.substr(digits);
  const bool isOne = letters == "F" || letters == "B" || letters == "W" || letters == "BW";
  return digits > 0 && isOne ? letters : std::string_view();
}

bool computes(std::string_view action) {
  return action == "forward_backward" || !stageLetters(action).empty();
}

bool communicates(const Executable &executable, const Command &command) {
  return command.kind == CommandKind::Launch && communicates(executable.kernels[command.kernel].call);
}

bool isMessage(std::string_view action) {
  return action.ends_with(".send") || action.ends_with(".send_wait") || action.ends_with(".receive") ||
         action.ends_with(".receive_wait");
}

/// The colors of chrome://tracing by category.
std::string_view colorOf(std::string_view category) {
  constexpr std::pair<std::string_view, std::string_view> colors[] = {{"F", "thread_state_runnable"},
                                                                      {"B", "thread_state_running"},
                                                                      {"W", "rail_load"},
                                                                      {"BW", "thread_state_running"},
                                                                      {"F,BW", "rail_response"},
                                                                      {"message", "grey"},
                                                                      {"collective", "yellow"},
                                                                      {"update", "olive"}};
  return std::find_if(std::begin(colors), std::end(colors),
                      [&](const auto &color) { return color.first == category; })
      ->second;
}

/// Time in the item's commands that have to do with other ranks.
int64_t exchangingIn(const Executable &executable, const Program &program, const ItemTimes &times) {
  const Action &action = program.actions[times.item.action];
  int64_t nanoseconds = 0;
  for (uint32_t i = 0; i < action.commandCount; ++i)
    if (communicates(executable, program.commands[action.firstCommand + i]))
      nanoseconds += times.of(i);
  return nanoseconds;
}

double microseconds(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / kNanosecondsPerMicrosecond;
}

} // namespace

double RankUse::bubble() const {
  return computeSpan == 0 ? 0 : 1 - static_cast<double>(computing) / static_cast<double>(computeSpan);
}

std::string itemName(const Program &program, const ScheduleItem &item) {
  const std::string &action = program.actions[item.action].name;
  if (item.microbatch == kNone)
    return action;
  return absl::StrCat(action, stageLetters(action).empty() ? " " : "", item.microbatch);
}

std::string_view categoryOf(const Executable &executable, const Program &program, const Action &action) {
  if (std::string_view letters = stageLetters(action.name); !letters.empty())
    return letters;
  if (action.name == "forward_backward")
    return "F,BW";
  if (isMessage(action.name))
    return "message";
  const auto first = program.commands.begin() + action.firstCommand, last = first + action.commandCount;
  const auto exchanges = [&](const Command &command) { return communicates(executable, command); };
  const bool exchangesAlone =
      std::any_of(first, last, exchanges) && std::all_of(first, last, [&](const Command &command) {
        return command.kind == CommandKind::Copy || exchanges(command);
      });
  return exchangesAlone ? "collective" : "update";
}

RankUse useOf(const Executable &executable, const RunTimes &times) {
  const Program &program = times.program();
  const std::vector<ItemTimes> items = times.items();
  RankUse use;
  if (items.empty())
    return use;
  use.start = items.front().start;
  use.end = items.back().end();
  std::optional<int64_t> firstCompute;
  for (const ItemTimes &item : items) {
    const int64_t all = item.end() - item.start, exchanging = exchangingIn(executable, program, item);
    use.exchanging += exchanging;
    use.busy += all - exchanging;
    if (!computes(program.actions[item.item.action].name))
      continue;
    firstCompute = firstCompute.value_or(item.start);
    use.computing += all;
    use.computeSpan = item.end() - *firstCompute;
  }
  return use;
}

std::string rankTitle(const Mesh &mesh, int64_t rank) {
  std::vector<std::string> places;
  for (const char *role : {"pipeline", "data", "context", "tensor"})
    if (const std::span<const uint32_t> axes = mesh.axesOf(role); mesh.sizeOf(axes) > 1)
      places.push_back(absl::StrCat(role, " ", mesh.indexOf(rank, axes), " of ", mesh.sizeOf(axes)));
  return absl::StrCat("rank ", rank,
                      places.empty() ? "" : absl::StrCat(" (", absl::StrJoin(places, ", "), ")"));
}

std::string traceEvents(const Executable &executable, const RunTimes &times, int64_t rank, int64_t origin) {
  const Program &program = times.program();
  // Viewers take thread 0 of process 0 for the idle one.
  const int64_t process = 1, thread = rank + 1;
  std::vector<std::string> lines;
  // A name may be a file's: what is not UTF-8 in it is replaced.
  const auto add = [&](const Json &event) {
    lines.push_back(event.dump(-1, ' ', false, Json::error_handler_t::replace));
  };
  add({{"name", "thread_name"},
       {"ph", "M"},
       {"pid", process},
       {"tid", thread},
       {"args", {{"name", rankTitle(executable.mesh, rank)}}}});
  for (const ItemTimes &item : times.items()) {
    const Action &action = program.actions[item.item.action];
    const std::string_view category = categoryOf(executable, program, action);
    Json arguments = {{"action", action.name}};
    if (item.item.microbatch != kNone)
      arguments["microbatch"] = item.item.microbatch;
    arguments["exchanging_us"] = microseconds(exchangingIn(executable, program, item));
    add({{"name", itemName(program, item.item)},
         {"cat", category},
         {"ph", "X"},
         {"pid", process},
         {"tid", thread},
         {"ts", microseconds(item.start - origin)},
         {"dur", microseconds(item.end() - item.start)},
         {"cname", colorOf(category)},
         {"args", std::move(arguments)}});
  }
  return absl::StrJoin(lines, ",\n");
}

} // namespace weft
