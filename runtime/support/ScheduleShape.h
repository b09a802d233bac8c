//===- ScheduleShape.h - What each pipeline schedule asks of its shape ------===//
//
// The schedules that have a name, how many stages each gives a rank, and how many microbatches it needs. One
// table for all who ask: the checks of a run file, which has no compiler at hand, and the generators
// (passes/pipeline/schedules), which write the lists.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_SCHEDULESHAPE_H
#define WEFT_RUNTIME_SUPPORT_SCHEDULESHAPE_H

#include "absl/status/status.h"

#include <string_view>
#include <vector>

namespace weft::schedules {

inline constexpr int mostRanks = 4096, mostStages = 16384, mostMicrobatches = 65536;
/// The search for a schedule (auto) gives each rank one stage, or two, there and back.
inline constexpr int mostChunksOfAuto = 2;

struct ScheduleShape {
  int ranks = 1;
  int microbatches = 1;
  int chunks = 0;    ///< stages of each rank; 0: what the schedule is made for
  int groupSize = 0; ///< interleaved: microbatches that pass a chunk together; 0: ranks
};

struct ScheduleDemands {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  int chunks;        ///< of each rank, when the shape does not say
  bool hasAnyChunks; ///< else that number alone
  int fewestPerRank; ///< microbatches for each rank, at least; 0: one in all
};

/// In the order in which they were published.
const std::vector<ScheduleDemands> &scheduleDemands();

/// Null when no schedule has this name.
const ScheduleDemands *findScheduleDemands(std::string_view name);

/// INVALID_ARGUMENT with what would work.
absl::Status checkShape(const ScheduleDemands &demands, const ScheduleShape &shape);

} // namespace weft::schedules

#endif // WEFT_RUNTIME_SUPPORT_SCHEDULESHAPE_H
