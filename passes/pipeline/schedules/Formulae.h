//===- Formulae.h - What the literature says of each schedule -------------===//
//
// Bubble and memory in one language, because the sources have several. F, B and W are the times of a rank's
// whole share of the model, B that of the input gradient alone (DeepSeek's README writes B for B + W, and
// times of a chunk); the bubble is a time, the longest span less the rank's work (other sources give it as a
// part of the whole time, or of the work). Figures hold for enough microbatches and no transfer time.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_FORMULAE_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_FORMULAE_H

#include "passes/pipeline/schedules/Generators.h"
#include "passes/pipeline/schedules/Timeline.h"

#include <optional>

namespace weft::schedules {

struct Formula {
  std::string_view bubble; ///< as text
  double bubbleTime = 0;
  std::string_view held; ///< as text: chunks that the rank with most holds
  double heldChunks = 0;
  bool isExact = false;   ///< of the bubble; else our list is a reconstruction, near it
  bool isReached = false; ///< enough microbatches for it
  std::string_view source;
};

/// What the literature says of a schedule of this name and shape; none for others. Chunks count as in
/// `schedule`, groups of microbatches as ranks.
std::optional<Formula> formulaOf(const PipelineSchedule &schedule, const ActionTimes &times);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_FORMULAE_H
