//===- StageChecks.cpp - Stages that ranks, schedule and layers can fill ----===//
//
// Ranks have the same number of stages each, a number that the schedule takes, and no stage is empty. Whoever
// is refused is told which numbers of stages would do, and one layout that can be pasted.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/StageLayout.h"

#include "runtime/support/ScheduleShape.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace weft {

using schedules::findScheduleDemands;
using schedules::ScheduleDemands;

static constexpr char kAuto[] = "auto";

/// Whether a rank may have so many stages with this schedule. The generators take `interleaved` with one,
/// too, but then it is 1f1b.
static bool takesStages(const std::string &schedule, int64_t stages) {
  if (const ScheduleDemands *demands = findScheduleDemands(schedule))
    return demands->hasAnyChunks ? stages >= demands->chunks : stages == demands->chunks;
  return stages >= 1 && (schedule != kAuto || stages <= schedules::mostChunksOfAuto);
}

namespace {
/// What a layout itself says.
struct Written {
  int64_t stages = 0; ///< 0: auto
  std::optional<int64_t> layers;
};
} // namespace

static absl::StatusOr<Written> readLayout(const std::string &layout) {
  if (layout == kAuto)
    return Written{};
  if (!layout.empty() && layout.find_first_not_of("0123456789") == std::string::npos) {
    int64_t number = 0;
    if (absl::SimpleAtoi(layout, &number) && number >= 1 && number <= schedules::mostStages)
      return Written{number, std::nullopt};
    return absl::InvalidArgumentError(
        absl::StrCat(layout, " is no number of stages: there are 1 to ", schedules::mostStages));
  }
  absl::StatusOr<StageLayout> stages = parseStages(layout);
  if (!stages.ok())
    return stages.status();
  return Written{std::ssize(stages->stages), stages->stages.back().firstLayer + stages->stages.back().layers};
}

const char *stagesKey(const PipelineConfig &pipeline) {
  return pipeline.layout == kAuto ? "parallel.pipeline.size" : "parallel.pipeline.layout";
}

std::optional<int64_t> stagesOfRank(const PipelineConfig &pipeline) {
  absl::StatusOr<Written> written = readLayout(pipeline.layout);
  if (!written.ok() || written->stages % pipeline.size != 0)
    return std::nullopt;
  if (written->stages > 0)
    return written->stages / pipeline.size;
  if (const ScheduleDemands *demands = findScheduleDemands(pipeline.schedule))
    return demands->chunks;
  return pipeline.schedule == kAuto ? std::optional<int64_t>(1) : std::nullopt;
}

static std::string countText(int64_t number, absl::string_view noun) {
  return absl::StrCat(number, " ", noun, number == 1 ? "" : "s");
}

namespace {
class StageChecks {
public:
  StageChecks(const PipelineConfig &pipeline, std::optional<int64_t> layers)
      : pipeline(pipeline), layers(layers),
        most(layers ? std::min<int64_t>(mostStagesOf(*layers), schedules::mostStages)
                    : schedules::mostStages) {}

  absl::Status check(const Written &written, int64_t stages) const;
  /// The reason, with what would work beside so many stages.
  absl::Status refuse(absl::string_view what, int64_t stages) const;

private:
  absl::Status refuseForAnyLayout(absl::string_view what, int64_t each) const;
  absl::Status refuseTooMany(const Written &written, int64_t stages) const;
  std::vector<int64_t> workingStages(int64_t near) const;
  std::string schedulesFor(int64_t stages) const;

  const PipelineConfig &pipeline;
  std::optional<int64_t> layers;
  int64_t most; ///< stages that the layers make
};
} // namespace

/// The next numbers of stages that would do, below (or the same) and above.
std::vector<int64_t> StageChecks::workingStages(int64_t near) const {
  std::vector<int64_t> works;
  const int64_t last = most / pipeline.size, middle = std::min(near / pipeline.size, last);
  for (int64_t each = middle; each >= 1 && works.empty(); --each)
    if (takesStages(pipeline.schedule, each))
      works.push_back(each * pipeline.size);
  for (int64_t each = middle + 1; each <= last; ++each)
    if (takesStages(pipeline.schedule, each)) {
      works.push_back(each * pipeline.size);
      break;
    }
  return works;
}

/// Schedules that give each rank so many stages.
std::string StageChecks::schedulesFor(int64_t stages) const {
  std::vector<std::string> names;
  for (const ScheduleDemands &demands : schedules::scheduleDemands())
    if (takesStages(std::string(demands.name), stages))
      names.emplace_back(demands.name);
  return absl::StrJoin(names, ", ");
}

absl::Status StageChecks::refuse(absl::string_view what, int64_t stages) const {
  const std::vector<int64_t> works = workingStages(stages);
  if (works.empty()) {
    int64_t fewest = 1;
    while (!takesStages(pipeline.schedule, fewest))
      ++fewest;
    return refuseForAnyLayout(what, fewest);
  }
  std::string example;
  constexpr int64_t mostWritten = 16;
  if (layers && works.front() <= mostWritten)
    example = absl::StrCat(", or \"", evenStages(*layers, works.front()).text(), "\"");
  return absl::InvalidArgumentError(
      absl::StrCat(what, ". Works: auto, ", absl::StrJoin(works, " or "), example, "."));
}

/// Another layout would not help: what does, for ranks that have so many stages each.
absl::Status StageChecks::refuseForAnyLayout(absl::string_view what, int64_t each) const {
  std::string works;
  if (most / each > 1)
    absl::StrAppend(&works, "parallel.pipeline.size: ", most / each, " or less, ");
  if (each > 1 && pipeline.size <= most)
    absl::StrAppend(&works, "a schedule with 1 stage a rank (", schedulesFor(1), "), ");
  return absl::InvalidArgumentError(
      absl::StrCat(what, ". Works: ", works, "or a model of ", each * pipeline.size - 2, " layers or more."));
}

/// More stages than the model has parts.
absl::Status StageChecks::refuseTooMany(const Written &written, int64_t stages) const {
  const int64_t each = stages / pipeline.size;
  const std::string limit =
      absl::StrCat(", and ", countText(layers.value_or(most), "layer"), layers == 1 ? " makes" : " make",
                   " at most ", most, ": embedding and head count as one each");
  if (written.stages > 0)
    return refuse(absl::StrCat("has ", stages, " stages", limit), stages);
  return refuseForAnyLayout(absl::StrCat(pipeline.size, " ranks with ", countText(each, "stage"),
                                         " each (schedule ", pipeline.schedule, ") are ", stages, " stages",
                                         limit),
                            each);
}

absl::Status StageChecks::check(const Written &written, int64_t stages) const {
  if (stages % pipeline.size != 0)
    return refuse(absl::StrCat("has ", countText(stages, "stage"), ", which ", pipeline.size,
                               " ranks (parallel.pipeline.size) cannot share"),
                  stages);
  if (const int64_t each = stages / pipeline.size; !takesStages(pipeline.schedule, each)) {
    const std::string others = schedulesFor(each);
    return refuse(absl::StrCat("has ", countText(each, "stage"), " a rank, which schedule ",
                               pipeline.schedule, " does not take; ", others, " would"),
                  stages);
  }
  if (stages > most)
    return refuseTooMany(written, stages);
  if (layers && written.layers && *written.layers != *layers)
    return refuse(absl::StrCat("has ", countText(*written.layers, "layer"), ", the model ", *layers), stages);
  return absl::OkStatus();
}

static absl::Status checkFor(const PipelineConfig &pipeline, std::optional<int64_t> layers,
                             int64_t stagesOfFile) {
  const StageChecks checks(pipeline, layers);
  absl::StatusOr<Written> written = readLayout(pipeline.layout);
  if (!written.ok())
    return checks.refuse(written.status().message(),
                         1 + std::count(pipeline.layout.begin(), pipeline.layout.end(), '|'));
  const std::optional<int64_t> each = stagesOfRank(pipeline);
  const int64_t stages = written->stages > 0 ? written->stages : each ? *each * pipeline.size : stagesOfFile;
  return stages == 0 ? absl::OkStatus() : checks.check(*written, stages);
}

absl::Status checkStages(const PipelineConfig &pipeline, std::optional<int64_t> layers) {
  return checkFor(pipeline, layers, 0);
}

absl::StatusOr<StageLayout> layOutStages(const PipelineConfig &pipeline, int64_t layers,
                                         int64_t stagesOfFile) {
  if (absl::Status status = checkFor(pipeline, layers, stagesOfFile); !status.ok())
    return status;
  if (absl::StatusOr<Written> written = readLayout(pipeline.layout); written.ok() && written->layers)
    return parseStages(pipeline.layout);
  return evenStages(layers, stagesOfRank(pipeline).value_or(stagesOfFile / pipeline.size) * pipeline.size);
}

} // namespace weft
