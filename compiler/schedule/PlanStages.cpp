//===- PlanStages.cpp - The stages of a run's pipeline ----------------------===//
//
// Loading a config has checked all that it says itself. What is left is what a schedule's file says, and the
// layers of a program.
//
//===----------------------------------------------------------------------===//
#include "compiler/schedule/PlanStages.h"

#include "passes/pipeline/schedules/ResolveSchedule.h"

#include "absl/strings/str_cat.h"

namespace weft {
namespace {

absl::Status named(absl::string_view key, const absl::Status &status) {
  return absl::Status(status.code(), absl::StrCat(key, ": ", status.message()));
}

constexpr char kScheduleKey[] = "parallel.pipeline.schedule";

/// One difference between a schedule's file and the run.
struct Mismatch {
  absl::string_view noun;
  int64_t inFile, inRun;
  absl::string_view source; ///< of what the run has
  std::string remedy;
};

absl::Status refuse(const schedules::PipelineSchedule &schedule, const Mismatch &mismatch) {
  return absl::InvalidArgumentError(absl::StrCat(kScheduleKey, ": ", schedule.name, " has ", mismatch.inFile,
                                                 " ", mismatch.noun, ", the run ", mismatch.inRun, " (",
                                                 mismatch.source, "). Works: ", mismatch.remedy,
                                                 ", or a file for ", mismatch.inRun, "."));
}

/// A file says its own shape, which must be the run's.
absl::Status checkFile(const schedules::PipelineSchedule &schedule, const Config &config) {
  const PipelineConfig &pipeline = config.parallel.pipeline;
  if (schedule.ranks != pipeline.size)
    return refuse(schedule, {"ranks", schedule.ranks, pipeline.size, "parallel.pipeline.size",
                             absl::StrCat("parallel.pipeline.size: ", schedule.ranks)});
  if (schedule.microbatches != config.microBatches())
    return refuse(schedule,
                  {"microbatches", schedule.microbatches, config.microBatches(),
                   "train.global_batch / (micro_batch x data ranks)",
                   absl::StrCat("train.global_batch: ", schedule.microbatches * config.train.microBatch *
                                                            config.parallel.dataRanks())});
  const int64_t stages = stagesOfRank(pipeline).value_or(schedule.chunks) * pipeline.size;
  if (schedule.stages() != stages)
    return refuse(schedule, {"stages", schedule.stages(), stages, "parallel.pipeline.layout",
                             absl::StrCat("parallel.pipeline.layout: ", schedule.stages())});
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<StageLayout> planStages(const Config &config, int64_t layers) {
  const PipelineConfig &pipeline = config.parallel.pipeline;
  int64_t stagesOfFile = 0;
  if (isScheduleFile(pipeline.schedule)) {
    absl::StatusOr<schedules::PipelineSchedule> schedule = loadSchedule(pipeline.schedule, std::nullopt);
    if (!schedule.ok())
      return named(kScheduleKey, schedule.status());
    if (absl::Status status = checkFile(*schedule, config); !status.ok())
      return status;
    stagesOfFile = schedule->stages();
  }
  absl::StatusOr<StageLayout> layout = layOutStages(pipeline, layers, stagesOfFile);
  return layout.ok() ? layout : named(stagesKey(pipeline), layout.status());
}

} // namespace weft
