//===- ResolveSchedule.cpp - The schedule that a word stands for ----------===//
//
// Whatever the origin, the same verifier and the same limit.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/ResolveSchedule.h"

#include "passes/pipeline/schedules/AutoSchedule.h"
#include "passes/pipeline/schedules/ScheduleText.h"
#include "passes/pipeline/schedules/VerifySchedule.h"
#include "runtime/support/FileText.h"
#include "runtime/support/Nearest.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {
namespace {
using namespace schedules;

constexpr size_t kLargestFile = size_t(64) << 20;
constexpr std::string_view kFilePrefix = "file:";

absl::Status checkLimit(const PipelineSchedule &schedule, std::optional<double> heldLimit) {
  if (!heldLimit)
    return absl::OkStatus();
  const std::vector<int> held = mostHeld(schedule);
  for (int rank = 0; rank < schedule.ranks; ++rank)
    if (held[rank] > heldChunks(*heldLimit, schedule.chunks))
      return absl::ResourceExhaustedError(
          absl::StrFormat("schedule: rank %d holds up to %.6g microbatches of its share from F to W, the "
                          "limit is %.6g. Run W's "
                          "earlier or fewer F's ahead, or raise the limit; auto searches within one",
                          rank, static_cast<double>(held[rank]) / schedule.chunks, *heldLimit));
  return absl::OkStatus();
}

absl::Status check(const PipelineSchedule &schedule, std::optional<double> heldLimit) {
  absl::Status status = verifySchedule(schedule);
  return status.ok() ? checkLimit(schedule, heldLimit) : status;
}

absl::Status unknownSchedule(const std::string &word) {
  std::vector<std::string> names = {"auto"};
  for (const ScheduleKind &kind : scheduleKinds())
    names.emplace_back(kind.name);
  std::optional<std::string> nearest = nearestWord(word, names);
  return absl::NotFoundError(absl::StrCat(
      findScheduleKind(word).status().message(), ", auto, and a file of your own as ",
      std::string(kFilePrefix), "PATH.", nearest ? absl::StrCat(" Did you mean ", *nearest, "?") : ""));
}

absl::StatusOr<ResolvedSchedule> resolveAuto(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  if (shape.groupSize != 0)
    return absl::InvalidArgumentError("auto has no groups of microbatches; a group size is for interleaved");
  const int chunks = shape.chunks == 0 ? 1 : shape.chunks;
  absl::StatusOr<AutoSchedule> found =
      searchSchedule({shape.ranks, shape.microbatches, chunks,
                      heldChunks(request.heldLimit.value_or(shape.ranks), chunks), request.times});
  if (!found.ok())
    return found.status();
  return ResolvedSchedule{std::move(found->schedule), found->lowerBound};
}

} // namespace

int heldChunks(double heldLimit, int chunks) {
  // A limit such as 2.3333 of three chunks means seven.
  return static_cast<int>(
      std::min<double>(std::floor(heldLimit * chunks + 1e-3), std::numeric_limits<int>::max()));
}

bool isScheduleFile(const std::string &word) { return word.compare(0, kFilePrefix.size(), kFilePrefix) == 0; }

absl::StatusOr<PipelineSchedule> loadSchedule(const std::string &path, std::optional<double> heldLimit) {
  const std::string file = isScheduleFile(path) ? path.substr(kFilePrefix.size()) : path;
  absl::StatusOr<std::string> text = readFileText(file, kLargestFile);
  if (!text.ok())
    return text.status();
  absl::StatusOr<PipelineSchedule> schedule = parseSchedule(*text, file);
  if (!schedule.ok())
    return schedule;
  if (absl::Status status = check(*schedule, heldLimit); !status.ok())
    return status;
  return schedule;
}

absl::StatusOr<ResolvedSchedule> resolveSchedule(const std::string &word, const ScheduleRequest &request) {
  if (word == "auto")
    return resolveAuto(request);
  if (isScheduleFile(word)) {
    absl::StatusOr<PipelineSchedule> read = loadSchedule(word, request.heldLimit);
    if (!read.ok())
      return read.status();
    return ResolvedSchedule{*std::move(read), std::nullopt};
  }
  if (!findScheduleKind(word).ok())
    return unknownSchedule(word);
  absl::StatusOr<PipelineSchedule> schedule = generateSchedule(word, request.shape);
  if (!schedule.ok())
    return schedule.status();
  if (absl::Status status = check(*schedule, request.heldLimit); !status.ok())
    return status;
  return ResolvedSchedule{*std::move(schedule), std::nullopt};
}

} // namespace weft
