//===- Exhaustive.cpp - The shortest span of all schedules ----------------===//
//
// Actions are appended in the order of their starts, so each schedule is met once. Microbatches are alike and
// sorting them at every stage breaks no need, so each kind of a stage runs in ascending order, and a state is
// how far each stage is, and what is still to come when. States that were met before are left out, and those
// in which some rank's work no longer fits below the shortest span so far.
//
//===----------------------------------------------------------------------===//
#include "Exhaustive.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace weft::schedules {
namespace {

constexpr int kMostStages = 4, kMostMicrobatches = 4, kMostRanks = 3;

struct State {
  std::array<std::array<int8_t, 3>, kMostStages> done = {}; ///< F, B, W of each stage
  std::array<std::array<int16_t, kMostMicrobatches>, kMostStages> forwardEnds = {}, backwardEnds = {};
  std::array<int16_t, kMostRanks> clock = {}, first = {}; ///< first: -1 before the rank's first action
  std::array<int8_t, kMostRanks> held = {};
  int16_t lastStart = 0;
  int8_t lastRank = 0;
};

class Enumeration {
public:
  Enumeration(const PipelineSchedule &shape, const WholeTimes &times, int heldLimit, int known)
      : shape(shape), times(times), heldLimit(heldLimit), best(known) {}

  int run() {
    State start;
    start.first.fill(-1);
    visit(start);
    return best;
  }

private:
  int duration(int kind) const {
    return kind == 0 ? times.forward : kind == 1 ? times.backwardInput : times.backwardWeight;
  }

  /// The start of a stage's next action of this kind; -1 where it may not come now.
  int startOf(const State &state, int stage, int kind) const {
    const int rank = shape.rankOf(stage), microbatch = state.done[stage][kind];
    if (microbatch == shape.microbatches || (kind > 0 && state.done[stage][kind - 1] <= microbatch))
      return -1;
    const auto hop = [&](int other) { return shape.rankOf(other) == rank ? 0 : times.transfer; };
    int start = state.clock[rank];
    if (kind == 0 && state.held[rank] == heldLimit)
      return -1;
    if (kind == 0 && stage > 0) {
      if (state.done[stage - 1][0] <= microbatch)
        return -1;
      start = std::max(start, state.forwardEnds[stage - 1][microbatch] + hop(stage - 1));
    }
    if (kind == 1 && stage + 1 < shape.stages()) {
      if (state.done[stage + 1][1] <= microbatch)
        return -1;
      start = std::max(start, state.backwardEnds[stage + 1][microbatch] + hop(stage + 1));
    }
    const bool isLater = start > state.lastStart || (start == state.lastStart && rank >= state.lastRank);
    return isLater ? start : -1;
  }

  State after(const State &state, int stage, int kind, int start) const {
    State next = state;
    const int rank = shape.rankOf(stage), microbatch = next.done[stage][kind]++;
    const auto end = static_cast<int16_t>(start + duration(kind));
    if (kind == 0)
      next.forwardEnds[stage][microbatch] = end, ++next.held[rank];
    else if (kind == 1)
      next.backwardEnds[stage][microbatch] = end;
    else
      --next.held[rank];
    if (next.first[rank] < 0)
      next.first[rank] = static_cast<int16_t>(start);
    next.clock[rank] = end;
    next.lastStart = static_cast<int16_t>(start);
    next.lastRank = static_cast<int8_t>(rank);
    return next;
  }

  /// The longest span that must come, were all that is left done at once.
  int leastSpan(const State &state) const {
    std::array<int, kMostRanks> left = {};
    for (int stage = 0; stage < shape.stages(); ++stage)
      for (int kind = 0; kind < 3; ++kind)
        left[shape.rankOf(stage)] += (shape.microbatches - state.done[stage][kind]) * duration(kind);
    int longest = 0;
    for (int rank = 0; rank < shape.ranks; ++rank)
      if (state.first[rank] >= 0) {
        // A rank goes on at the earliest when the last action that was appended starts.
        int from = left[rank] > 0 ? std::max(state.clock[rank], state.lastStart) : state.clock[rank];
        longest = std::max(longest, from + left[rank] - state.first[rank]);
      } else {
        longest = std::max(longest, left[rank]);
      }
    return longest;
  }

  /// What the future depends on, relative to the time now.
  std::string keyOf(const State &state) const {
    std::string key;
    const auto add = [&](int value) { key.push_back(static_cast<char>(std::clamp(value, -128, 127))); };
    for (int stage = 0; stage < shape.stages(); ++stage) {
      for (int kind = 0; kind < 3; ++kind)
        add(state.done[stage][kind]);
      // Only what a neighbor has not taken yet, and only if it comes after now.
      if (stage + 1 < shape.stages())
        for (int microbatch = state.done[stage + 1][0]; microbatch < state.done[stage][0]; ++microbatch)
          add(std::max(-times.transfer, state.forwardEnds[stage][microbatch] - state.lastStart));
      if (stage > 0)
        for (int microbatch = state.done[stage - 1][1]; microbatch < state.done[stage][1]; ++microbatch)
          add(std::max(-times.transfer, state.backwardEnds[stage][microbatch] - state.lastStart));
    }
    for (int rank = 0; rank < shape.ranks; ++rank) {
      add(std::max(0, state.clock[rank] - state.lastStart));
      // How long ago the rank began decides its span; two bytes.
      int ago = state.first[rank] < 0 ? -1 : state.lastStart - state.first[rank] + 1;
      add(ago % 128);
      add(ago / 128);
    }
    add(state.lastRank);
    return key;
  }

  void visit(const State &state) {
    if (leastSpan(state) >= best)
      return;
    bool isDone = true;
    for (int stage = 0; stage < shape.stages(); ++stage)
      isDone &= state.done[stage][2] == shape.microbatches;
    if (isDone) {
      best = leastSpan(state);
      return;
    }
    if (!met.insert(keyOf(state)).second)
      return;
    for (int stage = 0; stage < shape.stages(); ++stage)
      for (int kind = 0; kind < 3; ++kind)
        if (int start = startOf(state, stage, kind); start >= 0)
          visit(after(state, stage, kind, start));
  }

  const PipelineSchedule &shape;
  WholeTimes times;
  int heldLimit, best;
  std::unordered_set<std::string> met;
};

} // namespace

int shortestSpan(const PipelineSchedule &shape, const WholeTimes &times, int heldLimit, int known) {
  return Enumeration(shape, times, heldLimit, known).run();
}

} // namespace weft::schedules
