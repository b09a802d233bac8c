//===- StageReplay.cpp - What the order of a pipeline costs by itself -----===//
//
// A run begins when the one before it on its rank has ended and what it needs is there: the forward of the
// stage before, the backward of the stage behind, and on its own stage its forward or its backward of inputs.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/StageReplay.h"

#include "runtime/train/StepTrace.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

namespace weft {
namespace {

class Replay {
public:
  explicit Replay(std::span<const std::vector<StageRun>> ranks) : ranks(ranks), places(ranks.size()) {
    for (const std::vector<StageRun> &runs : ranks)
      for (const StageRun &run : runs) {
        Sum &sum = sums[{run.action, run.stage}];
        sum.nanoseconds += static_cast<double>(run.nanoseconds);
        ++sum.count;
        lastStage = std::max(lastStage, run.stage);
      }
  }

  std::optional<std::vector<double>> bubbles() {
    for (bool goesOn = true; goesOn;) {
      goesOn = false;
      for (size_t rank = 0; rank < ranks.size(); ++rank)
        while (advance(rank))
          goesOn = true;
    }
    std::vector<double> all;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      const Place &place = places[rank];
      if (place.next < ranks[rank].size())
        return std::nullopt;
      const double span = place.now - place.start;
      all.push_back(span > 0 ? 1 - place.busy / span : 0);
    }
    return all;
  }

private:
  struct Sum {
    double nanoseconds = 0;
    int64_t count = 0;
  };
  /// Where a rank is.
  struct Place {
    size_t next = 0;
    double start = 0, now = 0, busy = 0;
  };
  /// BW gives what B gives.
  using Result = std::tuple<bool, int32_t, int64_t>; ///< whether of a backward, stage, microbatch

  /// Raises `from` to when the result is there; false when it is not there yet.
  bool await(const Result &result, double &from) const {
    const auto found = ends.find(result);
    if (found == ends.end())
      return false;
    from = std::max(from, found->second);
    return true;
  }

  bool isReady(const StageRun &run, double &from) const {
    switch (run.action) {
    case StageAction::F:
      return run.stage == 0 || await({false, run.stage - 1, run.microbatch}, from);
    case StageAction::W:
      return await({true, run.stage, run.microbatch}, from);
    case StageAction::B:
    case StageAction::BW:
      return await({false, run.stage, run.microbatch}, from) &&
             (run.stage == lastStage || await({true, run.stage + 1, run.microbatch}, from));
    }
    return false;
  }

  bool advance(size_t rank) {
    Place &place = places[rank];
    if (place.next == ranks[rank].size())
      return false;
    const StageRun &run = ranks[rank][place.next];
    double from = place.now;
    if (!isReady(run, from))
      return false;
    const Sum &sum = sums.at({run.action, run.stage});
    const double mean = sum.nanoseconds / static_cast<double>(sum.count);
    if (place.next++ == 0)
      place.start = from;
    place.busy += mean;
    place.now = from + mean;
    if (run.action != StageAction::W)
      ends[{run.action != StageAction::F, run.stage, run.microbatch}] = place.now;
    return true;
  }

  std::span<const std::vector<StageRun>> ranks;
  std::vector<Place> places;
  std::map<std::pair<StageAction, int32_t>, Sum> sums;
  std::map<Result, double> ends;
  int32_t lastStage = 0;
};

} // namespace

std::vector<StageRun> stageRuns(const RunTimes &times) {
  const Program &program = times.program();
  std::vector<StageRun> runs;
  for (const ItemTimes &item : times.items()) {
    const std::string &action = program.actions[item.item.action].name;
    const std::string_view letters = stageLetters(action);
    if (letters.empty() || item.item.microbatch == kNone)
      continue;
    StageRun run;
    run.action = letters == "F"   ? StageAction::F
                 : letters == "B" ? StageAction::B
                 : letters == "W" ? StageAction::W
                                  : StageAction::BW;
    std::from_chars(action.data(), action.data() + action.size(), run.stage);
    run.microbatch = item.item.microbatch;
    run.nanoseconds = item.end() - item.start;
    runs.push_back(run);
  }
  return runs;
}

std::optional<std::vector<double>> replayedBubbles(std::span<const std::vector<StageRun>> ranks) {
  return Replay(ranks).bubbles();
}

} // namespace weft
