//===- PlanPipeline.cpp - The stages and the schedule of a run --------------===//
//
// The layout decides how many stages there are, else the schedule; then both must agree.
//
//===----------------------------------------------------------------------===//
#include "compiler/schedule/PlanPipeline.h"

#include "compiler/schedule/ResolveSchedule.h"

#include "absl/strings/str_cat.h"

namespace weft {
namespace {

constexpr char kScheduleKey[] = "parallel.pipeline.schedule: ";

/// One difference between a schedule's file and the run.
absl::Status mismatch(const schedules::PipelineSchedule &schedule, int64_t inFile, absl::string_view noun,
                      int64_t inRun, absl::string_view source, absl::string_view remedy) {
  return absl::InvalidArgumentError(absl::StrCat(kScheduleKey, schedule.name, " has ", inFile, " ", noun,
                                                 ", the run ", inRun, " (", source, "). Works: ", remedy,
                                                 ", or a file for ", inRun, "."));
}

/// A file says its own shape, which must be the run's.
absl::Status checkShape(const schedules::PipelineSchedule &schedule, const Config &config) {
  const PipelineConfig &pipeline = config.parallel.pipeline;
  if (schedule.ranks != pipeline.size)
    return mismatch(schedule, schedule.ranks, "ranks", pipeline.size, "parallel.pipeline.size",
                    absl::StrCat("parallel.pipeline.size: ", schedule.ranks));
  if (schedule.microbatches != config.microBatches())
    return mismatch(schedule, schedule.microbatches, "microbatches", config.microBatches(),
                    "train.global_batch / (micro_batch x data ranks)",
                    absl::StrCat("train.global_batch: ", schedule.microbatches * config.train.microBatch *
                                                             config.parallel.dataRanks()));
  const int64_t stages = stagesOfRank(pipeline).value_or(schedule.chunks) * pipeline.size;
  if (schedule.stages() != stages)
    return mismatch(schedule, schedule.stages(), "stages", stages, "parallel.pipeline.layout",
                    absl::StrCat("layout: auto, layout: ", schedule.stages()));
  return absl::OkStatus();
}

absl::Status named(absl::string_view key, const absl::Status &status) {
  return absl::Status(status.code(), absl::StrCat(key, status.message()));
}

} // namespace

absl::StatusOr<PipelinePlan> planPipeline(const Config &config, int64_t layers) {
  const PipelineConfig &pipeline = config.parallel.pipeline;
  ScheduleRequest request;
  request.shape = {static_cast<int>(pipeline.size), static_cast<int>(config.microBatches()),
                   static_cast<int>(stagesOfRank(pipeline).value_or(0))};
  absl::StatusOr<ResolvedSchedule> resolved = resolveSchedule(pipeline.schedule, request);
  if (!resolved.ok())
    return named(kScheduleKey, resolved.status());
  if (absl::Status status = checkShape(resolved->schedule, config); !status.ok())
    return status;
  absl::StatusOr<StageLayout> layout = layOutStages(pipeline, layers, resolved->schedule.stages());
  if (!layout.ok())
    return named(absl::StrCat(stagesKey(pipeline), ": "), layout.status());
  return PipelinePlan{std::move(resolved->schedule), *std::move(layout)};
}

} // namespace weft
