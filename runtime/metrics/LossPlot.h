//===- LossPlot.h - Loss curves of runs as an SVG file --------------------===//
//
// Training and validation loss over steps, several runs on the same axes. The training curve is drawn twice:
// as it is, pale, and smoothed over a hundredth of the run; validation is drawn as dots at the steps where it
// was measured.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_METRICS_LOSSPLOT_H
#define WEFT_RUNTIME_METRICS_LOSSPLOT_H

#include "runtime/metrics/StepMetrics.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace weft {

struct PlotRun {
  std::string name;
  std::vector<StepMetrics> metrics; ///< steps ascending; losses that are not finite leave a gap
};

struct PlotOptions {
  bool logarithmicSteps = false;
};

/// The SVG text. Refused when no run has a finite loss.
absl::StatusOr<std::string> lossPlotSvg(const std::vector<PlotRun> &runs, const PlotOptions &options);

/// Writes it to `file`, whole or not at all.
absl::Status writeLossPlot(const std::vector<PlotRun> &runs, const std::string &file,
                           const PlotOptions &options);

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_LOSSPLOT_H
