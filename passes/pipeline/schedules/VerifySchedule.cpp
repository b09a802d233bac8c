//===- VerifySchedule.cpp - Whether a list that anyone wrote is right -----===//
//
// One walk over each list for doubles and order, one over the table of what was seen for what is missing, and
// a simulation for circles.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/VerifySchedule.h"

#include "passes/pipeline/schedules/Timeline.h"

#include "absl/strings/str_cat.h"

namespace weft::schedules {
namespace {

class Verifier {
public:
  explicit Verifier(const PipelineSchedule &schedule) : schedule(schedule) {}

  absl::Status run() {
    if (absl::Status status = checkShape(); !status.ok())
      return status;
    last.assign(4 * size_t(schedule.stages()), -1);
    seen.assign(size_t(schedule.stages()) * schedule.microbatches, 0);
    for (int rank = 0; rank < schedule.ranks; ++rank)
      for (size_t index = 0; index < schedule.actions[rank].size(); ++index)
        if (absl::Status status = take(rank, index); !status.ok())
          return status;
    if (absl::Status status = checkComplete(); !status.ok())
      return status;
    return simulate(schedule, ActionTimes()).status();
  }

private:
  absl::Status checkShape() const {
    if (schedule.ranks < 1 || schedule.chunks < 1 || schedule.microbatches < 1 ||
        schedule.actions.size() != static_cast<size_t>(schedule.ranks))
      return absl::InvalidArgumentError(
          absl::StrCat("schedule: ", schedule.ranks, " ranks, ", schedule.chunks, " stages a rank, ",
                       schedule.microbatches, " microbatches and ", schedule.actions.size(),
                       " lists; each must be at least 1, with one list for each rank"));
    // Before any table is made: lists too short for the microbatches cannot be complete.
    const int64_t most = actionCount(schedule),
                  fewest = 2 * int64_t(schedule.stages()) * schedule.microbatches;
    if (most < fewest)
      return absl::InvalidArgumentError(absl::StrCat(
          "schedule: ", most, " actions in all; ", schedule.stages(), " stages with ", schedule.microbatches,
          " microbatches need at least ", fewest, ", a forward and a backward each"));
    return absl::OkStatus();
  }

  absl::Status refuse(int rank, size_t index, const std::string &what) const {
    return absl::InvalidArgumentError(absl::StrCat("schedule: rank ", rank, ", action ", index + 1, " (",
                                                   toString(schedule.actions[rank][index]), "): ", what));
  }

  absl::Status take(int rank, size_t index) {
    const Action &action = schedule.actions[rank][index];
    if (action.stage < 0 || action.stage >= schedule.stages())
      return refuse(rank, index, absl::StrCat("there are stages 0 to ", schedule.stages() - 1));
    if (action.microbatch < 0 || action.microbatch >= schedule.microbatches)
      return refuse(rank, index, absl::StrCat("there are microbatches 0 to ", schedule.microbatches - 1));
    if (int home = schedule.rankOf(action.stage); home != rank)
      return refuse(rank, index,
                    absl::StrCat("stage ", action.stage, " is on rank ", home, "; move it there"));
    if (absl::Status status = checkOnce(rank, index); !status.ok())
      return status;
    return checkOrder(rank, index);
  }

  static unsigned bit(ActionKind kind) { return 1u << static_cast<unsigned>(kind); }

  absl::Status checkOnce(int rank, size_t index) {
    const Action &action = schedule.actions[rank][index];
    uint8_t &kinds = seen[size_t(action.stage) * schedule.microbatches + action.microbatch];
    const unsigned parts = bit(ActionKind::BackwardInput) | bit(ActionKind::BackwardWeight);
    const unsigned clash = action.kind == ActionKind::Backward  ? parts
                           : action.kind == ActionKind::Forward ? 0
                                                                : bit(ActionKind::Backward);
    if (kinds & bit(action.kind))
      return refuse(rank, index, "it comes twice; each action runs once. Remove one");
    if (kinds & clash)
      return refuse(rank, index, "its backward comes twice: BW is B and W in one. Keep BW, or B and W");
    if (action.kind != ActionKind::Forward && !(kinds & bit(ActionKind::Forward)))
      return refuse(rank, index,
                    absl::StrCat("it comes before its forward; ", before(action, ActionKind::Forward)));
    if (action.kind == ActionKind::BackwardWeight && !(kinds & bit(ActionKind::BackwardInput)))
      return refuse(rank, index,
                    absl::StrCat("it comes before its B; ", before(action, ActionKind::BackwardInput)));
    kinds |= bit(action.kind);
    return absl::OkStatus();
  }

  static std::string before(Action action, ActionKind kind) {
    std::string late = toString(action);
    action.kind = kind;
    return absl::StrCat("put ", toString(action), " before ", late);
  }

  /// B and BW give cotangents, W and BW gradients: each of the two must ascend, as forwards must.
  absl::Status checkOrder(int rank, size_t index) {
    const Action &action = schedule.actions[rank][index];
    struct Series {
      bool isMember;
      int position;
      const char *why;
    };
    const Series all[] = {
        {action.kind == ActionKind::Forward, 0, "forwards of a stage send in that order"},
        {givesCotangent(action.kind), 1, "backwards of a stage send in that order"},
        {releases(action.kind), 2, "weight gradients are added up in that order"},
    };
    for (const Series &series : all) {
      int &before = last[4 * size_t(action.stage) + series.position];
      if (!series.isMember)
        continue;
      if (action.microbatch < before)
        return refuse(rank, index,
                      absl::StrCat("it comes after microbatch ", before, "; ", series.why,
                                   ", so microbatches must ascend. Exchange the two"));
      before = action.microbatch;
    }
    return absl::OkStatus();
  }

  absl::Status checkComplete() const {
    for (int stage = 0; stage < schedule.stages(); ++stage)
      for (int microbatch = 0; microbatch < schedule.microbatches; ++microbatch) {
        const unsigned kinds = seen[size_t(stage) * schedule.microbatches + microbatch];
        for (ActionKind kind : {ActionKind::Forward, ActionKind::BackwardInput, ActionKind::BackwardWeight}) {
          bool isWhole = kind != ActionKind::Forward && (kinds & bit(ActionKind::Backward));
          if (!isWhole && !(kinds & bit(kind)))
            return absl::InvalidArgumentError(
                absl::StrCat("schedule: ", toString({stage, kind, microbatch}),
                             " is missing: each stage runs each microbatch once. Add it to rank ",
                             schedule.rankOf(stage)));
        }
      }
    return absl::OkStatus();
  }

  const PipelineSchedule &schedule;
  std::vector<int> last;     ///< by stage and series, the microbatch that came last
  std::vector<uint8_t> seen; ///< by stage and microbatch, the kinds that came
};

} // namespace

absl::Status verifySchedule(const PipelineSchedule &schedule) { return Verifier(schedule).run(); }

} // namespace weft::schedules
