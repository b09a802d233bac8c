//===- LossPlot.cpp - Loss curves of runs as an SVG file ------------------===//
//
// Geometry first: the ranges of the data give the axes, the axes map values to pixels, then grid, curves and
// legend are drawn in that order. Colors are those of Okabe and Ito, which people with any color vision can
// tell apart.
//
//===----------------------------------------------------------------------===//
#include "runtime/metrics/LossPlot.h"

#include "runtime/metrics/AxisTicks.h"
#include "runtime/support/FileText.h"
#include "runtime/support/SvgCanvas.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace weft {
namespace {

constexpr double canvasWidth = 960;
constexpr double canvasHeight = 540;
constexpr double left = 76;
constexpr double right = canvasWidth - 28;
constexpr double top = 28;
constexpr double bottom = canvasHeight - 62;
// More measurements than this would be a solid band of dots.
constexpr size_t mostDots = 80;
constexpr std::array<const char *, 8> colors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                "#E69F00", "#56B4E9", "#7F6000", "#555555"};

struct Sample {
  double step;
  double loss;
};

/// Pieces of a curve without gaps.
using Pieces = std::vector<std::vector<Sample>>;

struct Curves {
  std::string name;
  std::string color;
  Pieces training;
  Pieces smoothed;
  std::vector<Sample> validation;
};

Pieces trainingPieces(const std::vector<StepMetrics> &metrics) {
  Pieces pieces(1);
  for (const StepMetrics &record : metrics) {
    if (std::isfinite(record.loss))
      pieces.back().push_back({static_cast<double>(record.step), record.loss});
    else if (!pieces.back().empty())
      pieces.emplace_back();
  }
  return pieces;
}

/// Centered means over a hundredth of the run, smaller toward both ends so that a steep beginning keeps its
/// place.
std::vector<Sample> smooth(const std::vector<Sample> &samples, int64_t halfWindow) {
  std::vector<double> sums = {0};
  for (const Sample &sample : samples)
    sums.push_back(sums.back() + sample.loss);
  int64_t count = static_cast<int64_t>(samples.size());
  std::vector<Sample> result;
  for (int64_t i = 0; i < count; ++i) {
    int64_t half = std::min({halfWindow, i, count - 1 - i});
    result.push_back(
        {samples[i].step, (sums[i + half + 1] - sums[i - half]) / static_cast<double>(2 * half + 1)});
  }
  return result;
}

Curves makeCurves(const PlotRun &run, size_t index) {
  Curves curves{run.name, colors[index % colors.size()], trainingPieces(run.metrics), {}, {}};
  int64_t halfWindow = std::max<int64_t>(1, static_cast<int64_t>(run.metrics.size()) / 100);
  for (const std::vector<Sample> &piece : curves.training)
    curves.smoothed.push_back(smooth(piece, halfWindow));
  for (const StepMetrics &record : run.metrics)
    if (record.valLoss && std::isfinite(*record.valLoss))
      curves.validation.push_back({static_cast<double>(record.step), *record.valLoss});
  return curves;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool isEmpty() const { return low > high; }
};

struct Axes {
  Range steps;
  Range losses;
  bool logarithmicSteps;

  SvgPoint place(const Sample &sample) const {
    double across = logarithmicSteps ? std::log(sample.step / steps.low) / std::log(steps.high / steps.low)
                                     : (sample.step - steps.low) / (steps.high - steps.low);
    double up = (sample.loss - losses.low) / (losses.high - losses.low);
    return {left + across * (right - left), bottom - up * (bottom - top)};
  }
};

Axes makeAxes(const std::vector<Curves> &all, const PlotOptions &options) {
  Axes axes;
  axes.logarithmicSteps = options.logarithmicSteps;
  auto include = [&](const Sample &sample) {
    axes.steps.include(sample.step);
    axes.losses.include(sample.loss);
  };
  for (const Curves &curves : all) {
    for (const std::vector<Sample> &piece : curves.training)
      std::for_each(piece.begin(), piece.end(), include);
    std::for_each(curves.validation.begin(), curves.validation.end(), include);
  }
  if (axes.losses.isEmpty())
    return axes;
  axes.steps.low =
      options.logarithmicSteps ? std::max(axes.steps.low, 1.0) : std::min(axes.steps.low - 1, 0.0);
  axes.steps.high = std::max(axes.steps.high, axes.steps.low + 1);
  double margin =
      std::max(0.05 * (axes.losses.high - axes.losses.low), 1e-6 * std::max(1.0, std::abs(axes.losses.high)));
  axes.losses.low -= margin;
  axes.losses.high += margin;
  return axes;
}

/// At most about two points a pixel: of each half pixel the lowest and the highest, so that no spike is lost.
std::vector<SvgPoint> thinned(const std::vector<Sample> &piece, const Axes &axes) {
  std::vector<SvgPoint> points;
  auto column = [](SvgPoint point) { return std::floor(point.x * 2); };
  for (size_t begin = 0; begin < piece.size();) {
    SvgPoint first = axes.place(piece[begin]);
    SvgPoint lowest = first;
    SvgPoint highest = first;
    size_t end = begin;
    for (SvgPoint point = first; column(point) == column(first);) {
      lowest = point.y > lowest.y ? point : lowest;
      highest = point.y < highest.y ? point : highest;
      if (++end == piece.size())
        break;
      point = axes.place(piece[end]);
    }
    if (lowest.x > highest.x)
      std::swap(lowest, highest);
    points.push_back(lowest);
    if (highest.x != lowest.x || highest.y != lowest.y)
      points.push_back(highest);
    begin = end;
  }
  return points;
}

void drawGrid(SvgCanvas &canvas, const Axes &axes) {
  SvgStroke grid{"#e4e4e4", 1, 1, ""};
  SvgStroke frame{"#8a8a8a", 1, 1, ""};
  std::vector<Tick> stepTicks = axes.logarithmicSteps ? logarithmicTicks(axes.steps.low, axes.steps.high, 16)
                                                      : linearTicks(axes.steps.low, axes.steps.high, 10);
  for (const Tick &tick : stepTicks) {
    double x = axes.place({tick.value, axes.losses.low}).x;
    canvas.line({x, top}, {x, bottom}, grid);
    canvas.line({x, bottom}, {x, bottom + 5}, frame);
    canvas.text({x, bottom + 20}, tick.label, {.anchor = SvgAnchor::Middle});
  }
  for (const Tick &tick : linearTicks(axes.losses.low, axes.losses.high, 8)) {
    double y = axes.place({axes.steps.low, tick.value}).y;
    canvas.line({left, y}, {right, y}, grid);
    canvas.line({left - 5, y}, {left, y}, frame);
    canvas.text({left - 9, y + 4}, tick.label, {.anchor = SvgAnchor::End});
  }
  canvas.line({left, top}, {left, bottom}, frame);
  canvas.line({left, bottom}, {right, bottom}, frame);
  SvgText title{.size = 13, .anchor = SvgAnchor::Middle};
  canvas.text({(left + right) / 2, canvasHeight - 18}, "step", title);
  title.vertical = true;
  canvas.text({24, (top + bottom) / 2}, "loss (nats per token)", title);
}

void drawCurves(SvgCanvas &canvas, const Curves &curves, const Axes &axes) {
  for (const std::vector<Sample> &piece : curves.training)
    canvas.curve(thinned(piece, axes), {curves.color, 1, 0.3, ""});
  for (const std::vector<Sample> &piece : curves.smoothed) {
    canvas.curve(thinned(piece, axes), {curves.color, 2, 1, ""});
    if (piece.size() == 1)
      canvas.dot(axes.place(piece.front()), 2, curves.color);
  }
  canvas.curve(thinned(curves.validation, axes), {curves.color, 1.5, 0.9, "5 4"});
  if (curves.validation.size() <= mostDots)
    for (const Sample &sample : curves.validation)
      canvas.dot(axes.place(sample), 4, curves.color);
}

/// Rows of the legend: a sample of the stroke, the run, its last loss.
void drawLegend(SvgCanvas &canvas, const std::vector<Curves> &all) {
  struct Row {
    std::string text;
    std::string color;
    bool isValidation;
  };
  std::vector<Row> rows;
  size_t longest = 0;
  for (const Curves &curves : all) {
    auto add = [&](const char *kind, double last, bool isValidation) {
      rows.push_back({absl::StrFormat("%s, %s: %.4g", curves.name, kind, last), curves.color, isValidation});
      longest = std::max(longest, rows.back().text.size());
    };
    for (auto piece = curves.smoothed.rbegin(); piece != curves.smoothed.rend(); ++piece)
      if (!piece->empty()) {
        add("training", piece->back().loss, false);
        break;
      }
    if (!curves.validation.empty())
      add("validation", curves.validation.back().loss, true);
  }
  constexpr double rowHeight = 19;
  double width = 52 + 6.6 * static_cast<double>(longest);
  double height = 10 + rowHeight * static_cast<double>(rows.size());
  SvgPoint corner{right - width - 8, top + 8};
  canvas.rectangle(corner, width, height, "#ffffff", 0.88);
  for (size_t i = 0; i < rows.size(); ++i) {
    double y = corner.y + 5 + rowHeight * (static_cast<double>(i) + 0.5);
    SvgStroke stroke{rows[i].color, 2, 1, rows[i].isValidation ? "5 4" : ""};
    canvas.line({corner.x + 8, y}, {corner.x + 36, y}, stroke);
    if (rows[i].isValidation)
      canvas.dot({corner.x + 22, y}, 4, rows[i].color);
    canvas.text({corner.x + 44, y + 4}, rows[i].text, {});
  }
}

} // namespace

absl::StatusOr<std::string> lossPlotSvg(const std::vector<PlotRun> &runs, const PlotOptions &options) {
  std::vector<Curves> all;
  for (size_t i = 0; i < runs.size(); ++i)
    all.push_back(makeCurves(runs[i], i));
  Axes axes = makeAxes(all, options);
  if (axes.losses.isEmpty())
    return absl::FailedPreconditionError(
        "there is no finite loss to draw: the runs have not finished a step");
  SvgCanvas canvas(canvasWidth, canvasHeight);
  canvas.rectangle({0, 0}, canvasWidth, canvasHeight, "#ffffff", 1);
  drawGrid(canvas, axes);
  for (const Curves &curves : all)
    drawCurves(canvas, curves, axes);
  drawLegend(canvas, all);
  return canvas.finish();
}

absl::Status writeLossPlot(const std::vector<PlotRun> &runs, const std::string &file,
                           const PlotOptions &options) {
  absl::StatusOr<std::string> svg = lossPlotSvg(runs, options);
  if (!svg.ok())
    return svg.status();
  return writeFileAtomically(file, *svg);
}

} // namespace weft
