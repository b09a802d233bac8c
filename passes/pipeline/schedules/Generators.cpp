//===- Generators.cpp - The schedules of the literature, by name ----------===//
//
// The table of schedules, and what each refuses.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Generators.h"

#include "passes/pipeline/schedules/ScheduleText.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::schedules {

const std::vector<ScheduleKind> &scheduleKinds() {
  constexpr StageLayout loop = StageLayout::Loop, v = StageLayout::V;
  static const std::vector<ScheduleKind> kinds = {
      {"gpipe", "all forwards, then all backwards", "arXiv:1811.06965", loop, 1, false, 0, gpipe},
      {"1f1b", "one forward, one backward", "arXiv:2006.09503", loop, 1, false, 0, oneForwardOneBackward},
      {"interleaved_1f1b", "1f1b over several chunks a rank", "arXiv:2104.04473", loop, 2, true, 0,
       interleaved},
      {"zb_h1", "weight gradients fill bubbles, memory of 1f1b", "arXiv:2401.10241", loop, 1, false, 0,
       zeroBubbleH1},
      {"zb_h2", "no bubble at equal times, twice the memory", "arXiv:2401.10241", loop, 1, false, 0,
       zeroBubbleH2},
      {"zb_v", "no bubble at equal times, memory of 1f1b", "arXiv:2401.10241", v, 2, false, 0, zeroBubbleV},
      {"v_half", "half the bubble and half the memory of 1f1b", "arXiv:2405.15362", v, 2, false, 0, vHalf},
      {"v_min", "two thirds of the bubble, a third of the memory", "arXiv:2405.15362", v, 2, false, 0, vMin},
      {"dualpipe_v", "forward and backward side by side", "DeepSeek, DualPipe", v, 2, false, 2, dualPipeV},
  };
  return kinds;
}

absl::StatusOr<ScheduleKind> findScheduleKind(std::string_view name) {
  for (const ScheduleKind &kind : scheduleKinds())
    if (kind.name == name)
      return kind;
  std::string known = absl::StrJoin(
      scheduleKinds(), ", ", [](std::string *out, const ScheduleKind &kind) { out->append(kind.name); });
  return absl::NotFoundError(absl::StrCat("no schedule '", std::string(name), "'; there are ", known));
}

absl::Status checkShape(const ScheduleKind &kind, const ScheduleShape &shape) {
  const std::string name(kind.name);
  const auto inRange = [](int value, int most) { return value >= 1 && value <= most; };
  if (!inRange(shape.ranks, mostRanks) || !inRange(shape.microbatches, mostMicrobatches))
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", shape.ranks, " ranks and ", shape.microbatches,
                                                   " microbatches; there are 1 to ", mostRanks,
                                                   " ranks and 1 to ", mostMicrobatches, " microbatches"));
  if (shape.chunks < 0 || (shape.chunks != 0 && !kind.hasAnyChunks && shape.chunks != kind.chunks))
    return absl::InvalidArgumentError(absl::StrCat(name, ": each rank has ", kind.chunks, " chunk",
                                                   kind.chunks == 1 ? "" : "s", ", not ", shape.chunks,
                                                   ". interleaved_1f1b takes any number of them"));
  const int64_t chunks = shape.chunks == 0 ? kind.chunks : shape.chunks;
  constexpr int64_t mostActions = int64_t(1) << 22;
  if (chunks * shape.ranks > mostStages || chunks * shape.ranks * shape.microbatches > mostActions / 3)
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", chunks * shape.ranks, " stages with ",
                                                   shape.microbatches, " microbatches; there are up to ",
                                                   mostStages, " stages and ", mostActions,
                                                   " actions. Lower one of the two"));
  if (shape.groupSize != 0 && !kind.hasAnyChunks)
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has no groups of microbatches; a group size is for interleaved_1f1b"));
  if (shape.groupSize != 0 && (shape.groupSize < shape.ranks || shape.groupSize > mostMicrobatches))
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": a group of ", shape.groupSize,
                     " microbatches is back at the first rank before that is done "
                     "with it. Works: ",
                     shape.ranks, " (the ranks) or more"));
  const int64_t fewest = int64_t(kind.fewestPerRank) * shape.ranks;
  if (shape.microbatches < fewest)
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", shape.microbatches, " microbatches on ",
                                                   shape.ranks, " ranks; it needs ", kind.fewestPerRank,
                                                   " for each rank. Works: ", fewest,
                                                   " microbatches or more, or zb_v, which takes any number"));
  return absl::OkStatus();
}

absl::StatusOr<PipelineSchedule> generateSchedule(std::string_view name, const ScheduleShape &shape) {
  absl::StatusOr<ScheduleKind> kind = findScheduleKind(name);
  if (!kind.ok())
    return kind.status();
  if (absl::Status status = checkShape(*kind, shape); !status.ok())
    return status;
  ScheduleShape filled = shape;
  if (filled.chunks == 0)
    filled.chunks = kind->chunks;
  return kind->generate(filled);
}

} // namespace weft::schedules
