//===- StageLayout.h - Which layers each stage of a pipeline has ------------===//
//
// A layout says where the model is cut: "E t*3 | t*4 | t*4 | t*3 L" is the embedding, decoder layers, borders
// between stages, and the final norm with the head. A number of stages means as even as can be: embedding and
// head count as a layer each, and what does not divide makes the first stages one longer. No layer is ever
// dropped. With auto there are as many as the schedule is made for; the compiler, which knows what layers
// cost, moves the borders of the even layout.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_STAGELAYOUT_H
#define WEFT_RUNTIME_CONFIG_STAGELAYOUT_H

#include "runtime/config/Config.h"

#include "absl/status/statusor.h"

namespace weft {

/// A part of the model, along which stages are counted from 0.
struct StageLayers {
  int64_t firstLayer = 0; ///< where it would be, if the stage has none
  int64_t layers = 0;
  bool hasEmbedding = false;
  bool hasHead = false; ///< final norm, head and loss

  bool operator==(const StageLayers &) const = default;
};

struct StageLayout {
  std::vector<StageLayers> stages;

  /// As a run file has it; reads back as the same layout.
  std::string text() const;

  bool operator==(const StageLayout &) const = default;
};

/// The most stages that a model has: one for each layer, the embedding and the head.
constexpr int64_t mostStagesOf(int64_t layers) { return layers + 2; }

/// As even as can be: 1 to mostStagesOf(layers) stages.
StageLayout evenStages(int64_t layers, int64_t stages);

/// Stages written out. INVALID_ARGUMENT with the column and what was expected there, without a remedy.
absl::StatusOr<StageLayout> parseStages(const std::string &text);

/// How many stages a rank has: by the layout, else what the schedule is made for. None when that is for the
/// schedule's file to say, or when the layout is none.
std::optional<int64_t> stagesOfRank(const PipelineConfig &pipeline);

/// The key that decides on the number of stages: what checkStages() and layOutStages() find wrong is said
/// of it.
const char *stagesKey(const PipelineConfig &pipeline);

/// Whether ranks and schedule can share the stages, and the layers fill them, if it is known how many there
/// are. INVALID_ARGUMENT with what would work.
absl::Status checkStages(const PipelineConfig &pipeline, std::optional<int64_t> layers);

/// The stages of a pipeline over a model of so many layers. Where neither layout nor schedule says how many
/// there are, there are `stagesOfFile`. Refuses what checkStages() refuses.
absl::StatusOr<StageLayout> layOutStages(const PipelineConfig &pipeline, int64_t layers,
                                         int64_t stagesOfFile = 0);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_STAGELAYOUT_H
