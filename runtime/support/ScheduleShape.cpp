//===- ScheduleShape.cpp - What each pipeline schedule asks of its shape ----===//
//
// The table, and what each schedule refuses.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/ScheduleShape.h"

#include "absl/strings/str_cat.h"

#include <cstdint>
#include <string>

namespace weft::schedules {

const std::vector<ScheduleDemands> &scheduleDemands() {
  static const std::vector<ScheduleDemands> all = {
      {"gpipe", "all forwards, then all backwards", "arXiv:1811.06965", 1, false, 0},
      {"1f1b", "one forward, one backward", "arXiv:2006.09503", 1, false, 0},
      {"interleaved", "1f1b over several chunks a rank", "arXiv:2104.04473", 2, true, 0},
      {"zb_h1", "weight gradients fill bubbles, memory of 1f1b", "arXiv:2401.10241", 1, false, 0},
      {"zb_h2", "no bubble at equal times, twice the memory", "arXiv:2401.10241", 1, false, 0},
      {"zb_v", "no bubble at equal times, memory of 1f1b", "arXiv:2401.10241", 2, false, 0},
      {"v_half", "half the bubble and half the memory of 1f1b", "arXiv:2405.15362", 2, false, 0},
      {"v_min", "two thirds of the bubble, a third of the memory", "arXiv:2405.15362", 2, false, 0},
      {"dualpipe_v", "forward and backward side by side", "DeepSeek, DualPipe", 2, false, 2},
  };
  return all;
}

const ScheduleDemands *findScheduleDemands(std::string_view name) {
  for (const ScheduleDemands &demands : scheduleDemands())
    if (demands.name == name)
      return &demands;
  return nullptr;
}

absl::Status checkShape(const ScheduleDemands &demands, const ScheduleShape &shape) {
  const std::string name(demands.name);
  const auto inRange = [](int value, int most) { return value >= 1 && value <= most; };
  if (!inRange(shape.ranks, mostRanks) || !inRange(shape.microbatches, mostMicrobatches))
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", shape.ranks, " ranks and ", shape.microbatches,
                                                   " microbatches; there are 1 to ", mostRanks,
                                                   " ranks and 1 to ", mostMicrobatches, " microbatches"));
  if (shape.chunks < 0 || (shape.chunks != 0 && !demands.hasAnyChunks && shape.chunks != demands.chunks))
    return absl::InvalidArgumentError(absl::StrCat(name, ": each rank has ", demands.chunks, " chunk",
                                                   demands.chunks == 1 ? "" : "s", ", not ", shape.chunks,
                                                   ". interleaved takes any number of them"));
  const int64_t chunks = shape.chunks == 0 ? demands.chunks : shape.chunks;
  constexpr int64_t mostActions = int64_t(1) << 22;
  if (chunks * shape.ranks > mostStages || chunks * shape.ranks * shape.microbatches > mostActions / 3)
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", chunks * shape.ranks, " stages with ",
                                                   shape.microbatches, " microbatches; there are up to ",
                                                   mostStages, " stages and ", mostActions,
                                                   " actions. Lower one of the two"));
  if (shape.groupSize != 0 && !demands.hasAnyChunks)
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has no groups of microbatches; a group size is for interleaved"));
  if (shape.groupSize != 0 && (shape.groupSize < shape.ranks || shape.groupSize > mostMicrobatches))
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": a group of ", shape.groupSize,
                     " microbatches is back at the first rank before that is done "
                     "with it. Works: ",
                     shape.ranks, " (the ranks) or more"));
  const int64_t fewest = int64_t(demands.fewestPerRank) * shape.ranks;
  if (shape.microbatches < fewest)
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", shape.microbatches, " microbatches on ",
                                                   shape.ranks, " ranks; it needs ", demands.fewestPerRank,
                                                   " for each rank. Works: ", fewest,
                                                   " microbatches or more, or zb_v, which takes any number"));
  return absl::OkStatus();
}

} // namespace weft::schedules
