//===- Generators.cpp - The schedules of the literature, by name ----------===//
//
// Who writes which. What each asks of its shape is in runtime/support/ScheduleShape.h.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Generators.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::schedules {

static ScheduleKind kindOf(std::string_view name, StageLayout layout,
                           PipelineSchedule (*generate)(const ScheduleShape &)) {
  return {*findScheduleDemands(name), layout, generate};
}

const std::vector<ScheduleKind> &scheduleKinds() {
  constexpr StageLayout loop = StageLayout::Loop, v = StageLayout::V;
  static const std::vector<ScheduleKind> kinds = {
      kindOf("gpipe", loop, gpipe),
      kindOf("1f1b", loop, oneForwardOneBackward),
      kindOf("interleaved", loop, interleaved),
      kindOf("zb_h1", loop, zeroBubbleH1),
      kindOf("zb_h2", loop, zeroBubbleH2),
      kindOf("zb_v", v, zeroBubbleV),
      kindOf("v_half", v, vHalf),
      kindOf("v_min", v, vMin),
      kindOf("dualpipe_v", v, dualPipeV),
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
