//===- ScheduleTrials.cpp - Changed schedules, verified and executed --------===//
//
// Schedules of every kind with a few random changes. Whatever the verifier accepts must end right in an
// executor without any check, and in simulated time no earlier than the lower bound; whatever it refuses must
// end otherwise there. Neither may hang: both are linear.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/AutoSchedule.h"
#include "passes/pipeline/schedules/Generators.h"
#include "passes/pipeline/schedules/LowerBound.h"
#include "passes/pipeline/schedules/ScheduleText.h"
#include "passes/pipeline/schedules/VerifySchedule.h"
#include "tools/weft-trials/ActionExecutor.h"
#include "tools/weft-trials/Random.h"
#include "tools/weft-trials/Report.h"
#include "tools/weft-trials/Trials.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdio>

namespace weft::trials {
namespace {
using namespace schedules;

constexpr int kMostChanges = 3;

PipelineSchedule drawSchedule(Random &random, uint64_t seed) {
  const std::vector<ScheduleKind> &kinds = scheduleKinds();
  const size_t which = seed % (kinds.size() + 1);
  ScheduleShape shape;
  shape.ranks = static_cast<int>(random.integer(1, 5));
  shape.microbatches = static_cast<int>(random.integer(1, 9));
  if (which == kinds.size()) {
    AutoRequest request{shape.ranks, shape.microbatches, 1, static_cast<int>(random.integer(1, 9)), {}};
    request.times = {random.real(0.5, 3), random.real(0.5, 3), random.real(0.5, 3), random.real(0, 1)};
    return searchSchedule(request)->schedule;
  }
  if (kinds[which].hasAnyChunks) {
    shape.chunks = static_cast<int>(random.integer(1, 3));
    shape.groupSize = shape.ranks + static_cast<int>(random.integer(0, 2));
  }
  if (absl::Status status = checkShape(kinds[which], shape); !status.ok()) // too few microbatches
    shape.microbatches += 2 * shape.ranks;
  return *generateSchedule(kinds[which].name, shape);
}

size_t anyOf(Random &random, size_t count) {
  return static_cast<size_t>(random.integer(0, static_cast<int64_t>(count) - 1));
}

/// A field of one action becomes another that is possible, or one just beyond.
void changeField(Random &random, const PipelineSchedule &schedule, Action &action) {
  switch (random.integer(0, 2)) {
  case 0:
    action.stage = static_cast<int>(random.integer(-1, schedule.stages()));
    break;
  case 1:
    action.kind = random.chooseFrom(allActionKinds);
    break;
  default:
    action.microbatch = static_cast<int>(random.integer(-1, schedule.microbatches));
  }
}

/// One change of one rank's list.
void change(Random &random, PipelineSchedule &schedule) {
  std::vector<Action> &list = schedule.actions[anyOf(random, schedule.actions.size())];
  if (list.empty())
    return;
  const size_t at = anyOf(random, list.size()), other = anyOf(random, list.size());
  switch (random.integer(0, 7)) {
  case 0: // two neighbors trade places
    std::swap(list[at], list[std::min(at + 1, list.size() - 1)]);
    return;
  case 1: // any two do
    std::swap(list[at], list[other]);
    return;
  case 2: // one goes elsewhere
    std::rotate(list.begin() + std::min(at, other), list.begin() + std::min(at, other) + 1,
                list.begin() + std::max(at, other) + 1);
    return;
  case 3: // one is lost
    list.erase(list.begin() + at);
    return;
  case 4: // one comes twice
    list.insert(list.begin() + other, list[at]);
    return;
  case 5:
    changeField(random, schedule, list[at]);
    return;
  case 6: { // one goes to another rank
    const Action moved = list[at];
    list.erase(list.begin() + at);
    std::vector<Action> &target = schedule.actions[anyOf(random, schedule.actions.size())];
    target.insert(target.begin() + anyOf(random, target.size() + 1), moved);
    return;
  }
  default: // a whole backward becomes two, and its W goes anywhere behind
    if (list[at].kind != ActionKind::Backward)
      return;
    list[at].kind = ActionKind::BackwardInput;
    Action weight = list[at];
    weight.kind = ActionKind::BackwardWeight;
    list.insert(list.begin() + at + 1 + anyOf(random, list.size() - at), weight);
  }
}

std::string describe(const PipelineSchedule &schedule, const absl::Status &verdict, Ending ending) {
  return absl::StrCat("the verifier says ", verdict.ok() ? "ok" : std::string(verdict.message()),
                      ", the executor ends: ", std::string(name(ending)), "\n", printSchedule(schedule));
}

/// Of an accepted schedule: it runs in time, no faster than anything can, and reads back from its text.
void checkAccepted(Random &random, const PipelineSchedule &schedule, Report &report) {
  const ActionTimes times = {random.real(0.1, 3), random.real(0.1, 3), random.real(0.1, 3),
                             random.real(0, 1)};
  absl::StatusOr<Timeline> timeline = simulate(schedule, times);
  if (!timeline.ok())
    return report.fail(absl::StrCat(timeline.status().message(), "\n", printSchedule(schedule)));
  const std::vector<int> held = mostHeld(schedule);
  const double bound = spanLowerBound(schedule, times, *std::max_element(held.begin(), held.end()));
  report.compare("lower bound", std::max(0.0, bound - timeline->span()), 1e-9 * bound,
                 printSchedule(schedule));
  absl::StatusOr<PipelineSchedule> read = parseSchedule(printSchedule(schedule), schedule.name);
  if (!read.ok() || *read != schedule)
    report.fail(absl::StrCat("does not read back: ", read.status().message(), "\n", printSchedule(schedule)));
}

void runCase(uint64_t seed, const std::string &sabotage, Report &report) {
  Random random(seed);
  PipelineSchedule schedule = drawSchedule(random, seed);
  report.beginCase(schedule.name, seed);
  for (int64_t changes = random.integer(0, kMostChanges); changes > 0; --changes)
    change(random, schedule);
  absl::Status verdict = verifySchedule(schedule);
  if (sabotage == "accept")
    verdict = absl::OkStatus();
  if (sabotage == "refuse" && verdict.ok())
    verdict = absl::InvalidArgumentError("on purpose");
  const Ending ending = execute(schedule);
  report.note(verdict.ok() ? "accepted" : absl::StrCat("refused: ", std::string(name(ending))));
  if (verdict.ok() != (ending == Ending::Right))
    report.fail(describe(schedule, verdict, ending));
  else if (absl::IsFailedPrecondition(verdict) && ending != Ending::Hangs)
    report.fail(describe(schedule, verdict, ending));
  else if (verdict.ok())
    checkAccepted(random, schedule, report);
  report.endCase();
}

} // namespace

int runScheduleTrials(const Options &options) {
  if (!options.sabotage.empty() && options.sabotage != "accept" && options.sabotage != "refuse") {
    std::fprintf(stderr, "schedule: --sabotage takes accept or refuse, not %s\n", options.sabotage.c_str());
    return 2;
  }
  Report report("schedule", options.sabotage.empty() ? "" : " --sabotage " + options.sabotage);
  Deadline deadline(options.minutes);
  for (int64_t index = 0; index < options.count && !deadline.passed(); ++index)
    runCase(options.seed + static_cast<uint64_t>(index), options.sabotage, report);
  return report.close();
}

} // namespace weft::trials
