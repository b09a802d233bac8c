//===- ScheduleSvg.cpp - A schedule as a picture --------------------------===//
//
// The scale makes the shortest action wide enough for its number, unless the picture would grow too wide.
//
//===----------------------------------------------------------------------===//
#include "compiler/schedule/ScheduleSvg.h"

#include "runtime/support/SvgCanvas.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace weft {
namespace {
using namespace schedules;

constexpr double kRow = 24, kRowGap = 4, kLeft = 64, kTop = 56, kRight = 16, kBottom = 12;
constexpr double kShortest = 18, kWidest = 8000, kFont = 11, kDigit = 6.5;

const char *colorOf(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return "#5b8fd6";
  case ActionKind::BackwardInput:
    return "#4fb3bf";
  case ActionKind::BackwardWeight:
    return "#8cc06a";
  case ActionKind::Backward:
    return "#e0a458";
  }
  return "#999999";
}

double opacityOf(int chunk) { return std::max(0.25, 0.95 - 0.4 * chunk); }

/// Pixels per unit of time.
double scaleOf(const PipelineSchedule &schedule, const Timeline &timeline, const ActionTimes &times) {
  double shortest = 0;
  for (const std::vector<Action> &list : schedule.actions)
    for (const Action &action : list)
      if (double time = times.of(action.kind, schedule.chunks); time > 0)
        shortest = shortest == 0 ? time : std::min(shortest, time);
  if (shortest == 0 || timeline.makespan <= 0)
    return 1;
  return std::min(kShortest / shortest, kWidest / timeline.makespan);
}

void drawLegend(SvgCanvas &canvas, const PipelineSchedule &schedule) {
  double x = kLeft;
  const auto entry = [&](ActionKind kind, int chunk, const std::string &text) {
    canvas.rectangle({x, 32}, 12, 12, colorOf(kind), opacityOf(chunk));
    canvas.text({x + 17, 42}, text, {kFont});
    x += 30 + kDigit * static_cast<double>(text.size());
  };
  for (ActionKind kind : allActionKinds) {
    bool isUsed = std::any_of(schedule.actions.begin(), schedule.actions.end(), [&](const auto &list) {
      return std::any_of(list.begin(), list.end(), [&](const Action &action) { return action.kind == kind; });
    });
    if (isUsed)
      entry(kind, 0, std::string(letters(kind)));
  }
  for (int chunk = 1; chunk < std::min(schedule.chunks, 3); ++chunk)
    entry(ActionKind::Forward, chunk, absl::StrCat("F of chunk ", chunk));
}

} // namespace

std::string scheduleSvg(const PipelineSchedule &schedule, const Timeline &timeline,
                        const ActionTimes &times) {
  const double scale = scaleOf(schedule, timeline, times);
  const double width = std::max(560.0, kLeft + timeline.makespan * scale + kRight);
  SvgCanvas canvas(width, kTop + schedule.ranks * (kRow + kRowGap) + kBottom);
  canvas.rectangle({0, 0}, width, kTop + schedule.ranks * (kRow + kRowGap) + kBottom, "#ffffff", 1);
  SvgText title;
  title.size = 14;
  title.bold = true;
  canvas.text({kLeft, 20},
              absl::StrFormat("%s: %d ranks, %d microbatches, bubble %.4g of a span of %.4g", schedule.name,
                              schedule.ranks, schedule.microbatches, timeline.bubble(), timeline.span()),
              title);
  drawLegend(canvas, schedule);
  SvgText number{kFont, "#1c1c1c", SvgAnchor::Middle}, label{kFont, "#333333", SvgAnchor::End};
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const double top = kTop + rank * (kRow + kRowGap);
    canvas.text({kLeft - 8, top + kRow / 2 + 4}, absl::StrCat("rank ", rank), label);
    canvas.rectangle({kLeft, top}, timeline.makespan * scale, kRow, "#ededed", 1);
    for (size_t index = 0; index < schedule.actions[rank].size(); ++index) {
      const Action &action = schedule.actions[rank][index];
      const double x = kLeft + timeline.start[rank][index] * scale;
      const double length = times.of(action.kind, schedule.chunks) * scale;
      canvas.rectangle({x, top}, std::max(0.0, length - 1), kRow, colorOf(action.kind),
                       opacityOf(action.stage / schedule.ranks));
      const std::string text = absl::StrCat(action.microbatch);
      if (kDigit * static_cast<double>(text.size()) < length)
        canvas.text({x + length / 2, top + kRow / 2 + 4}, text, number);
    }
  }
  return canvas.finish();
}

} // namespace weft
