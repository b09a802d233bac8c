//===- AutoSchedule.cpp - The best schedule for given times and memory ----===//
//
// Candidates compete by span; those of the literature enter as they are and with their weight gradients
// placed anew for the times given.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/AutoSchedule.h"

#include "passes/pipeline/schedules/Generators.h"
#include "passes/pipeline/schedules/ListScheduling.h"
#include "passes/pipeline/schedules/LocalSearch.h"
#include "passes/pipeline/schedules/LowerBound.h"
#include "passes/pipeline/schedules/VerifySchedule.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace weft::schedules {
namespace {

constexpr double kPatience[] = {0.0, 0.5, 1.0};
constexpr int64_t kSimulatedActions = 8'000'000; ///< what the local search may spend
constexpr int kMostTrials = 20'000;

PipelineSchedule withoutWeights(PipelineSchedule schedule) {
  schedule = splitBackwards(std::move(schedule));
  for (std::vector<Action> &list : schedule.actions)
    std::erase_if(list, [](const Action &action) { return action.kind == ActionKind::BackwardWeight; });
  return schedule;
}

class Search {
public:
  explicit Search(const AutoRequest &request) : request(request) {}

  absl::StatusOr<AutoSchedule> run() {
    const StageLayout layout = request.chunks == 1 ? StageLayout::Loop : StageLayout::V;
    const PipelineSchedule shape =
        makeSchedule("auto", request.ranks, request.chunks, request.microbatches, layout);
    const double bound = spanLowerBound(shape, request.times, request.heldLimit);
    for (const ScheduleKind &kind : scheduleKinds())
      if (kind.layout == layout && kind.chunks == request.chunks)
        considerKind(kind);
    if (request.chunks == 1)
      considerPolicies();
    if (!best)
      return absl::InvalidArgumentError(absl::StrCat("auto: no schedule found that holds at most ",
                                                     request.heldLimit, " chunks on each of ", request.ranks,
                                                     " ranks. Works: ", lowestHeld, " or more"));
    const int64_t trials = kSimulatedActions / std::max<int64_t>(1, actionCount(*best));
    PipelineSchedule improved =
        improve(*std::move(best), request.times, request.heldLimit, bound * (1 + 1e-12),
                static_cast<int>(std::clamp<int64_t>(trials, 50, kMostTrials)));
    improved.name = "auto";
    const double span = simulate(improved, request.times)->span();
    return AutoSchedule{std::move(improved), span, bound, found};
  }

private:
  void consider(PipelineSchedule schedule, const std::string &origin) {
    const std::vector<int> held = mostHeld(schedule);
    const int most = *std::max_element(held.begin(), held.end());
    lowestHeld = std::min(lowestHeld, most);
    if (most > request.heldLimit)
      return;
    absl::StatusOr<Timeline> timeline = simulate(schedule, request.times);
    if (!timeline.ok() || (best && timeline->span() >= bestSpan))
      return;
    bestSpan = timeline->span();
    best = std::move(schedule);
    found = origin;
  }

  void considerKind(const ScheduleKind &kind) {
    const std::string origin(kind.name);
    absl::StatusOr<PipelineSchedule> seed =
        generateSchedule(kind.name, {request.ranks, request.microbatches});
    if (!seed.ok()) // not for this number of microbatches
      return;
    consider(splitBackwards(*seed), origin);
    const PipelineSchedule order = withoutWeights(*std::move(seed));
    ListPolicy policy;
    policy.heldLimit = request.heldLimit;
    for (double patience : kPatience) {
      policy.patience = patience;
      if (std::optional<PipelineSchedule> placed = placeWeights(order, request.times, policy))
        consider(*std::move(placed), absl::StrCat(origin, " with its W's placed anew"));
    }
  }

  /// How many forwards run before the first backward: between as many as ranks lie behind, and the limit.
  std::vector<int> warmUp(double slope) const {
    std::vector<int> counts;
    for (int rank = 0; rank < request.ranks; ++rank)
      counts.push_back(1 + static_cast<int>(std::ceil(slope * (request.ranks - 1 - rank))));
    return counts;
  }

  void considerPolicies() {
    ListPolicy policy;
    policy.heldLimit = request.heldLimit;
    for (double slope : {0.0, 1.0, 1.5, 2.0, 3.0})
      for (double patience : kPatience)
        for (auto prefer :
             {ListPolicy::Prefer::Backward, ListPolicy::Prefer::Forward, ListPolicy::Prefer::InTurn}) {
          policy.warmUp = slope == 0 ? std::vector<int>() : warmUp(slope);
          policy.patience = patience;
          policy.prefer = prefer;
          consider(scheduleByList(request.ranks, request.microbatches, request.times, policy),
                   "list scheduling");
        }
  }

  const AutoRequest &request;
  std::optional<PipelineSchedule> best;
  double bestSpan = 0;
  int lowestHeld = mostHeldOfAny();
  std::string found;

  int mostHeldOfAny() const { return request.chunks * request.microbatches; }
};

absl::Status checkTimes(const ActionTimes &times) {
  const double all[] = {times.forward, times.backwardInput, times.backwardWeight, times.transfer};
  for (double time : all)
    if (!(time >= 0 && time <= 1e12))
      return absl::InvalidArgumentError(absl::StrCat("auto: a time of ", time, "; times are from 0 to 1e12"));
  if (times.work() <= 0)
    return absl::InvalidArgumentError("auto: F, B and W take no time; at least one must");
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<AutoSchedule> searchSchedule(const AutoRequest &request) {
  if (request.chunks < 1 || request.chunks > mostChunksOfAuto)
    return absl::InvalidArgumentError(absl::StrCat(
        "auto: ", request.chunks, " chunks a rank. Works: 1, or 2 (there and back); interleaved takes more"));
  if (request.heldLimit < 1)
    return absl::InvalidArgumentError("auto: a rank must hold at least 1 microbatch from its F to its W");
  if (absl::Status status = checkTimes(request.times); !status.ok())
    return status;
  absl::StatusOr<ScheduleKind> seed = findScheduleKind(request.chunks == 1 ? "zb_h1" : "zb_v");
  if (absl::Status status = checkShape(*seed, {request.ranks, request.microbatches}); !status.ok())
    return status;
  return Search(request).run();
}

} // namespace weft::schedules
