//===- ResolveSchedule.h - The schedule that a word stands for ------------===//
//
// A name of the literature, `auto`, or `file:PATH`: what a command line and a run file say alike. What comes
// back is verified, and holds no more than the limit.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_RESOLVESCHEDULE_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_RESOLVESCHEDULE_H

#include "passes/pipeline/schedules/Generators.h"
#include "passes/pipeline/schedules/Timeline.h"

#include <optional>

namespace weft {

struct ScheduleRequest {
  schedules::ScheduleShape shape;
  schedules::ActionTimes times;    ///< auto's
  std::optional<double> heldLimit; ///< microbatches of a rank's whole share; auto's default: the ranks
};

struct ResolvedSchedule {
  schedules::PipelineSchedule schedule;
  std::optional<double> lowerBound; ///< on the span; of auto alone
};

/// The schedule of the word; a file says its own shape. NOT_FOUND, INVALID_ARGUMENT or RESOURCE_EXHAUSTED
/// with the remedy.
absl::StatusOr<ResolvedSchedule> resolveSchedule(const std::string &word, const ScheduleRequest &request);

/// Whether the word is `file:PATH`.
bool isScheduleFile(const std::string &word);

/// The schedule of a file of the user's own: `PATH` or `file:PATH`; the file says its shape.
absl::StatusOr<schedules::PipelineSchedule> loadSchedule(const std::string &path,
                                                         std::optional<double> heldLimit);

/// How many chunks a limit of so many microbatches of a rank's whole share allows.
int heldChunks(double heldLimit, int chunks);

} // namespace weft

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_RESOLVESCHEDULE_H
