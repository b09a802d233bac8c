//===- ScheduleReport.cpp - The figures of schedules ----------------------===//
//
// The bubble is a time: the longest span less the work of a rank.
//
//===----------------------------------------------------------------------===//
#include "compiler/schedule/ScheduleReport.h"

#include "passes/pipeline/schedules/AutoSchedule.h"
#include "passes/pipeline/schedules/Formulae.h"
#include "passes/pipeline/schedules/ResolveSchedule.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {
using namespace schedules;

std::string timesText(const ActionTimes &times) {
  return absl::StrFormat("F %.6g, B %.6g, W %.6g, transfer %.6g", times.forward, times.backwardInput,
                         times.backwardWeight, times.transfer);
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/// Zero where only rounding is left of it.
double deviation(double measured, double expected, double scale) {
  double difference = measured - expected;
  return std::abs(difference) <= 1e-9 * scale ? 0 : difference;
}

/// `(p-1)(F+B-W) = 3`, or `0`.
std::string bubbleText(const Formula &formula) {
  const std::string text(formula.bubble), value = absl::StrFormat("%.6g", formula.bubbleTime);
  return text == value ? text : absl::StrCat(text, " = ", value);
}

int mostOf(const PipelineSchedule &schedule) {
  const std::vector<int> held = mostHeld(schedule);
  return *std::max_element(held.begin(), held.end());
}

/// Appends a line of the comparison.
void addLine(std::string &text, const std::string &label, const PipelineSchedule &schedule,
             const ActionTimes &times, std::optional<double> lowerBound) {
  absl::StatusOr<Timeline> timeline = simulate(schedule, times);
  if (!timeline.ok()) {
    absl::StrAppendFormat(&text, "%-18s %s\n", label, std::string(timeline.status().message()));
    return;
  }
  const double bubble = deviation(timeline->bubble(), 0, timeline->span());
  std::string beside;
  if (std::optional<Formula> formula = formulaOf(schedule, times))
    beside = absl::StrFormat("%s, %+.6g%s", bubbleText(*formula),
                             deviation(timeline->bubble(), formula->bubbleTime, timeline->span()),
                             formula->isReached ? "" : " (too few microbatches for it)");
  else if (lowerBound)
    beside = absl::StrFormat("lower bound %.6g, %+.6g",
                             deviation(*lowerBound, timeline->span() - timeline->bubble(), timeline->span()),
                             deviation(timeline->span(), *lowerBound, timeline->span()));
  absl::StrAppendFormat(&text, "%-18s %6d %9.6g %9.6g %9.6g %6.1f%% %7.4g   %s\n", label, schedule.chunks,
                        timeline->span(), timeline->makespan, bubble, percent(bubble, timeline->span()),
                        static_cast<double>(mostOf(schedule)) / schedule.chunks, beside);
}

} // namespace

std::string describeShape(const PipelineSchedule &schedule, const ActionTimes &times) {
  return absl::StrFormat("%d rank%s, %d stage%s (%s), %d microbatch%s; %s", schedule.ranks,
                         schedule.ranks == 1 ? "" : "s", schedule.stages(), schedule.stages() == 1 ? "" : "s",
                         std::string(name(schedule.layout)), schedule.microbatches,
                         schedule.microbatches == 1 ? "" : "es", timesText(times));
}

std::string scheduleFigures(const PipelineSchedule &schedule, const Timeline &timeline,
                            const ActionTimes &times, std::optional<double> lowerBound,
                            std::span<const uint64_t> peakBytes) {
  const double bubble = deviation(timeline.bubble(), 0, timeline.span());
  std::string text =
      absl::StrFormat("span %.6g (a rank's first to last action, the longest)   makespan %.6g "
                      "  bubble %.6g (%.1f %% of the span)\n",
                      timeline.span(), timeline.makespan, bubble, percent(bubble, timeline.span()));
  if (std::optional<Formula> formula = formulaOf(schedule, times))
    absl::StrAppendFormat(&text, "literature: bubble %s, so %+.6g here; most held %s = %.6g (%s)%s\n",
                          bubbleText(*formula),
                          deviation(timeline.bubble(), formula->bubbleTime, timeline.span()),
                          std::string(formula->held), formula->heldChunks, std::string(formula->source),
                          formula->isReached ? "" : "; it is for more microbatches");
  if (lowerBound)
    absl::StrAppendFormat(&text,
                          "lower bound on the span %.6g: no schedule within the limit is more than %.2f %% "
                          "shorter\n",
                          *lowerBound,
                          std::max(0.0, percent(timeline.span() - *lowerBound, timeline.span())));
  absl::StrAppend(&text, "rank      span      busy      idle  held (chunks, F to W)",
                  peakBytes.empty() ? "" : "   bytes at the peak", "\n");
  const std::vector<int> held = mostHeld(schedule);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    absl::StrAppendFormat(&text, "%4d %9.6g %9.6g %9.6g  %4d", rank, timeline.spans[rank],
                          timeline.busy[rank],
                          deviation(timeline.spans[rank], timeline.busy[rank], timeline.span()), held[rank]);
    if (!peakBytes.empty())
      absl::StrAppendFormat(&text, "%36d", peakBytes[static_cast<size_t>(rank)]);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string compareSchedules(const ScheduleShape &shape, const ActionTimes &times, double heldLimit) {
  std::string text = absl::StrFormat("%d ranks, %d microbatches; %s, of a rank's whole share of the model\n",
                                     shape.ranks, shape.microbatches, timesText(times));
  absl::StrAppendFormat(&text, "%-18s %6s %9s %9s %9s %7s %7s   %s\n", "schedule", "chunks", "span",
                        "makespan", "bubble", "of span", "held", "bubble in the literature, difference");
  for (const ScheduleKind &kind : scheduleKinds()) {
    ScheduleShape own = shape;
    if (!kind.hasAnyChunks)
      own.chunks = own.groupSize = 0;
    absl::StatusOr<PipelineSchedule> schedule = generateSchedule(kind.name, own);
    if (schedule.ok())
      addLine(text, std::string(kind.name), *schedule, times, std::nullopt);
    else
      absl::StrAppendFormat(&text, "%-18s %s\n", std::string(kind.name),
                            std::string(schedule.status().message()));
  }
  for (int chunks : {1, 2}) {
    const std::string label = absl::StrFormat("auto, held %.4g", heldLimit);
    absl::StatusOr<AutoSchedule> found =
        searchSchedule({shape.ranks, shape.microbatches, chunks, heldChunks(heldLimit, chunks), times});
    if (found.ok())
      addLine(text, label, found->schedule, times, found->lowerBound);
    else
      absl::StrAppendFormat(&text, "%-18s %s\n", label, std::string(found.status().message()));
  }
  return text + "held: microbatches of a rank's whole share, from F to the end of W, on the rank with most\n";
}

} // namespace weft
