//===- PlotCommand.cpp - weft plot ----------------------------------------===//
//
// A run is a run folder or its metrics.jsonl. One run is drawn into its own folder, several into loss.svg
// here, unless a file is named.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/PlotCommand.h"

#include "runtime/metrics/HumanFormat.h"
#include "runtime/metrics/LossPlot.h"
#include "tools/weft/Command.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

namespace weft {

namespace {
struct PlotCommandOptions {
  std::vector<std::string> runs;
  std::string output;
  bool logarithmicSteps = false;
};
} // namespace

static std::filesystem::path metricsFile(const std::string &run) {
  std::error_code error;
  std::filesystem::path path(run);
  return std::filesystem::is_directory(path, error) ? path / "metrics.jsonl" : path;
}

static PlotRun loadRun(const std::string &run) {
  std::filesystem::path file = metricsFile(run);
  absl::StatusOr<std::vector<StepMetrics>> metrics = readMetrics(file.string());
  if (!metrics.ok())
    failCommand(withExitCode(metrics.status(), ExitCode::Data));
  std::string folder = std::filesystem::absolute(file).lexically_normal().parent_path().filename().string();
  return {folder, std::move(*metrics)};
}

static std::string outputFile(const PlotCommandOptions &options) {
  if (!options.output.empty())
    return options.output;
  if (options.runs.size() == 1)
    return (metricsFile(options.runs.front()).parent_path() / "loss.svg").string();
  return "loss.svg";
}

static void plot(const PlotCommandOptions &options) {
  std::vector<PlotRun> runs;
  int64_t steps = 0;
  for (const std::string &run : options.runs) {
    runs.push_back(loadRun(run));
    steps += static_cast<int64_t>(runs.back().metrics.size());
  }
  std::string file = outputFile(options);
  absl::Status status = writeLossPlot(runs, file, {options.logarithmicSteps});
  if (!status.ok())
    failCommand(withExitCode(status, ExitCode::Data));
  std::printf("%s: %zu run%s, %s steps\n", file.c_str(), runs.size(), runs.size() == 1 ? "" : "s",
              formatCount(steps).c_str());
}

void addPlotCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("plot", "Draw the loss curves of runs as an SVG file");
  auto options = std::make_shared<PlotCommandOptions>();
  command->add_option("RUN", options->runs, "Run folders, or metrics.jsonl files")->required();
  command->add_option("-o,--output", options->output,
                      "The file to write (default: loss.svg in the run's folder, or here for several runs)");
  command->add_flag("--log-x", options->logarithmicSteps, "A logarithmic axis of steps");
  command->callback([options] { plot(*options); });
}

} // namespace weft
