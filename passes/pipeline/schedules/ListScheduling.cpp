//===- ListScheduling.cpp - Greedy schedules in simulated time ------------===//
//
// Each rank offers its next step with its start; the earliest offer of all is taken, so that what is not
// scheduled yet cannot arrive before it. Only the ranks of neighboring stages must then offer anew.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/ListScheduling.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace weft::schedules {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

class Greedy {
public:
  /// `order` null: by preference.
  Greedy(PipelineSchedule shape, const PipelineSchedule *order, const ActionTimes &times,
         const ListPolicy &policy)
      : made(std::move(shape)), order(order), times(times), policy(policy), ranks(made.ranks),
        ends(2 * size_t(made.stages()) * made.microbatches, kUnknown) {
    for (ActionKind kind : allActionKinds)
      durations[static_cast<int>(kind)] = times.of(kind, made.chunks);
  }

  std::optional<PipelineSchedule> run() {
    for (int rank = 0; rank < made.ranks; ++rank)
      offer(rank);
    while (!offers.empty()) {
      Offer first = offers.top();
      offers.pop();
      if (first.number == ranks[first.rank].offered) // else it was replaced
        take(first);
    }
    if (actionCount(made) != 3 * int64_t(made.stages()) * made.microbatches)
      return std::nullopt;
    return std::move(made);
  }

private:
  struct Offer {
    double start = kUnknown;
    bool isWeight = false; ///< at one time, W's come last
    int rank = 0;
    Action action;
    int64_t number = 0; ///< of this offer among all
    bool operator>(const Offer &other) const {
      return std::tie(start, isWeight, rank, number) >
             std::tie(other.start, other.isWeight, other.rank, other.number);
    }
  };
  struct Rank {
    double clock = 0;
    size_t next = 0; ///< in the given order
    int forwards = 0, backwards = 0, held = 0;
    bool wasForward = false;
    std::vector<Action> weights; ///< whose B is done
    size_t weightsDone = 0;
    int64_t offered = 0; ///< the number of its offer that stands
    bool hasWeight() const { return weightsDone < weights.size(); }
  };

  double &end(int stage, bool isForward, int microbatch) {
    return ends[2 * (size_t(stage) * made.microbatches + microbatch) + isForward];
  }
  double arrival(int rank, int stage, bool isForward, int microbatch) {
    return end(stage, isForward, microbatch) + (made.rankOf(stage) == rank ? 0 : times.transfer);
  }

  /// When all that F or B needs has arrived.
  double ready(int rank, const Action &action) {
    if (action.kind == ActionKind::Forward)
      return action.stage == 0 ? 0 : arrival(rank, action.stage - 1, true, action.microbatch);
    double own = end(action.stage, true, action.microbatch);
    return action.stage + 1 == made.stages()
               ? own
               : std::max(own, arrival(rank, action.stage + 1, false, action.microbatch));
  }

  /// The F and the B that the rank may run next; `isFull` when a forward would be one too many.
  std::vector<Action> nextActions(int rank, bool &isFull) {
    Rank &self = ranks[rank];
    std::vector<Action> next;
    const auto add = [&](const Action &action) {
      if (action.kind == ActionKind::Forward && self.held >= std::max(1, policy.heldLimit))
        isFull = isFull || ready(rank, action) <= self.clock;
      else
        next.push_back(action);
    };
    if (order) {
      if (self.next < order->actions[rank].size())
        add(order->actions[rank][self.next]);
      return next;
    }
    const Action forward{rank, ActionKind::Forward, self.forwards};
    const Action backward{rank, ActionKind::BackwardInput, self.backwards};
    bool forwardFirst = policy.prefer == ListPolicy::Prefer::Forward ||
                        (policy.prefer == ListPolicy::Prefer::InTurn && !self.wasForward);
    const int warmUp = policy.warmUp.empty() ? policy.heldLimit : std::max(1, policy.warmUp[rank]);
    const auto addForward = [&] {
      if (self.forwards < made.microbatches && (self.backwards > 0 || self.forwards < warmUp))
        add(forward);
    };
    if (forwardFirst)
      addForward();
    if (self.backwards < self.forwards)
      add(backward);
    if (!forwardFirst)
      addForward();
    return next;
  }

  void offer(int rank) {
    Rank &self = ranks[rank];
    bool isFull = false;
    Offer best;
    for (const Action &action : nextActions(rank, isFull)) {
      double start = std::max(self.clock, ready(rank, action));
      if (start < best.start)
        best = {start, false, rank, action};
    }
    const double weight = durations[static_cast<int>(ActionKind::BackwardWeight)];
    if (self.hasWeight() && best.start > self.clock &&
        (isFull || best.start - self.clock >= policy.patience * weight))
      best = {self.clock, true, rank, self.weights[self.weightsDone]};
    self.offered = best.number = ++offersMade;
    if (best.start != kUnknown)
      offers.push(best);
  }

  void take(const Offer &taken) {
    const int rank = taken.rank;
    const Action action = taken.action;
    Rank &self = ranks[rank];
    self.clock = taken.start + durations[static_cast<int>(action.kind)];
    made.actions[rank].push_back(action);
    if (action.kind == ActionKind::BackwardWeight) {
      ++self.weightsDone;
      --self.held;
      return offer(rank);
    }
    const bool isForward = action.kind == ActionKind::Forward;
    end(action.stage, isForward, action.microbatch) = self.clock;
    self.wasForward = isForward;
    ++self.next;
    ++(isForward ? self.forwards : self.backwards);
    if (isForward)
      ++self.held;
    else
      self.weights.push_back({action.stage, ActionKind::BackwardWeight, action.microbatch});
    offer(rank);
    const int neighbor = action.stage + (isForward ? 1 : -1);
    if (neighbor >= 0 && neighbor < made.stages())
      offer(made.rankOf(neighbor));
  }

  PipelineSchedule made;
  const PipelineSchedule *order;
  const ActionTimes &times;
  const ListPolicy &policy;
  double durations[4] = {};
  std::vector<Rank> ranks;
  std::vector<double> ends; ///< of F and B, by stage and microbatch
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers;
  int64_t offersMade = 0;
};

} // namespace

std::optional<PipelineSchedule> placeWeights(const PipelineSchedule &order, const ActionTimes &times,
                                             const ListPolicy &policy) {
  PipelineSchedule shape =
      makeSchedule(order.name, order.ranks, order.chunks, order.microbatches, order.layout);
  return Greedy(std::move(shape), &order, times, policy).run();
}

PipelineSchedule scheduleByList(int ranks, int microbatches, const ActionTimes &times,
                                const ListPolicy &policy) {
  // Each rank may always run the B that a later rank gives, or the W that makes room: there is a way on.
  return *Greedy(makeSchedule("auto", ranks, 1, microbatches, StageLayout::Loop), nullptr, times, policy)
              .run();
}

} // namespace weft::schedules
