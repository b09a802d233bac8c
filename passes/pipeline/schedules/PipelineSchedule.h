//===- PipelineSchedule.h - Who does what, in which order -----------------===//
//
// A list of compute actions for each rank of a pipeline. Stages are numbered along the model; each rank has
// the same number of them, its chunks. Only the order is decided here: when an action starts follows from it
// (Timeline.h), sends, receives, frees and reductions are added by passes.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_PIPELINESCHEDULE_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_PIPELINESCHEDULE_H

#include "passes/pipeline/schedules/Action.h"

#include <string>
#include <vector>

namespace weft::schedules {

/// Which rank has which stage.
enum class StageLayout {
  Loop, ///< stage s on rank s mod p: 0 1 2 3 | 0 1 2 3
  V,    ///< there and back: 0 1 2 3 | 3 2 1 0
};

/// `loop` or `v`.
std::string_view name(StageLayout layout);

struct PipelineSchedule {
  std::string name;
  int ranks = 1;
  int chunks = 1; ///< stages of each rank
  int microbatches = 1;
  StageLayout layout = StageLayout::Loop;
  std::vector<std::vector<Action>> actions; ///< one list per rank

  int stages() const { return ranks * chunks; }
  int rankOf(int stage) const {
    int place = stage % ranks;
    return layout == StageLayout::V && stage / ranks % 2 == 1 ? ranks - 1 - place : place;
  }
  /// The stage of a rank's chunk, counted along the model.
  int stageOf(int rank, int chunk) const {
    return chunk * ranks + (layout == StageLayout::V && chunk % 2 == 1 ? ranks - 1 - rank : rank);
  }

  bool operator==(const PipelineSchedule &) const = default;
};

/// An empty schedule of this shape.
PipelineSchedule makeSchedule(std::string name, int ranks, int chunks, int microbatches, StageLayout layout);

/// How many actions all lists have together.
int64_t actionCount(const PipelineSchedule &schedule);

/// For each rank, the largest number of forwards that are held at once, each from its F until its W (or BW)
/// ends, in chunks: one unit is what one stage keeps of one microbatch.
std::vector<int> mostHeld(const PipelineSchedule &schedule);

/// The same lists with each whole backward as two actions, B and at once W.
PipelineSchedule splitBackwards(PipelineSchedule schedule);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_PIPELINESCHEDULE_H
