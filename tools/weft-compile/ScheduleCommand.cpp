//===- ScheduleCommand.cpp - weft schedule ------------------------------------===//
//
// show, verify and compare: reads the words, and prints what compiler/schedule makes of them. Only the
// schedule of a run file needs a model: it is compiled, so that its times and bytes are those of the run.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-compile/ScheduleCommand.h"

#include "compiler/Compile.h"
#include "compiler/schedule/ScheduleReport.h"
#include "compiler/schedule/ScheduleSvg.h"
#include "compiler/schedule/ScheduleTable.h"
#include "compiler/schedule/ScheduleTrace.h"
#include "passes/pipeline/schedules/Generators.h"
#include "passes/pipeline/schedules/ResolveSchedule.h"
#include "passes/pipeline/schedules/ScheduleText.h"
#include "runtime/config/ConfigLoader.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/FileText.h"
#include "tools/weft-compile/Target.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

#include <algorithm>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace weft {
namespace {
using namespace schedules;

struct Options {
  std::string schedule;
  std::vector<std::string> files, overrides;
  std::string svg, trace, output;
  std::optional<int> ranks, microbatches, chunks, groupSize;
  std::vector<double> actionTimes = {1, 1, 1};
  double transfer = 0;
  std::optional<double> limit;
  bool hasTimes = false; ///< somebody gave them

  ActionTimes times() const { return {actionTimes[0], actionTimes[1], actionTimes[2], transfer}; }
  ScheduleShape shape() const {
    return {ranks.value_or(4), microbatches.value_or(8), chunks.value_or(0), groupSize.value_or(0)};
  }
  double heldLimit() const { return limit.value_or(ranks.value_or(4)); }
};

/// A schedule by name, `auto`, or `file:PATH`, which says its own shape.
absl::StatusOr<ResolvedSchedule> resolve(const std::string &word, const Options &options) {
  if (isScheduleFile(word) && (options.ranks || options.microbatches || options.chunks || options.groupSize))
    return absl::InvalidArgumentError(
        absl::StrCat(word, " says its own ranks, stages and microbatches: leave out --ranks, --microbatches, "
                           "--chunks and --group-size, or change the file"));
  return resolveSchedule(word, {options.shape(), options.times(), options.limit});
}

bool isRunFile(const std::string &word) {
  return absl::EndsWith(word, ".yaml") || absl::EndsWith(word, ".yml") || absl::EndsWith(word, ".json");
}

/// A schedule and what is known of it.
struct Shown {
  PipelineSchedule schedule;
  ActionTimes times;
  std::optional<double> lowerBound;
  std::vector<uint64_t> peakBytes; ///< of each rank; of a run
};

/// The schedule of a run: times are shares of a rank's work in a step, by floating-point operations.
absl::StatusOr<Shown> showRun(const Options &options) {
  if (options.ranks || options.microbatches || options.chunks || options.groupSize || options.hasTimes)
    return absl::InvalidArgumentError(
        absl::StrCat(options.schedule,
                     " says its own pipeline, and its model the times: leave out --ranks, --microbatches, "
                     "--chunks, --group-size, --times and --transfer, or change the run with --set"));
  absl::StatusOr<LoadedConfig> loaded = loadConfig(options.schedule, options.overrides);
  if (!loaded.ok())
    return loaded.status();
  if (loaded->config.parallel.pipeline.size == 1)
    return absl::InvalidArgumentError(
        absl::StrCat(options.schedule,
                     ": the run has no pipeline. --set parallel.pipeline.size=2 gives it one of two ranks"));
  absl::StatusOr<Target> target = openTarget(loaded->config);
  if (!target.ok())
    return target.status();
  absl::StatusOr<Compiled> compiled = compileJob(loaded->config, loaded->resolvedYaml(), {*target, {}, {}});
  if (!compiled.ok())
    return compiled.status();
  absl::StatusOr<PipelineSchedule> schedule =
      parseSchedule(compiled->schedule, loaded->config.parallel.pipeline.schedule);
  if (!schedule.ok())
    return schedule.status();
  Shown shown{*std::move(schedule), compiled->times, std::nullopt, {}};
  const double percent = shown.times.work() / 100;
  for (double *time :
       {&shown.times.forward, &shown.times.backwardInput, &shown.times.backwardWeight, &shown.times.transfer})
    *time /= percent;
  for (const Executable &part : compiled->parts)
    shown.peakBytes.push_back(part.memory.peakBytes());
  return shown;
}

absl::StatusOr<Shown> findShown(const Options &options) {
  if (isRunFile(options.schedule))
    return showRun(options);
  if (!options.overrides.empty())
    return absl::InvalidArgumentError("--set changes a run file; here is none");
  absl::StatusOr<ResolvedSchedule> resolved = resolve(options.schedule, options);
  if (!resolved.ok())
    return resolved.status();
  return Shown{std::move(resolved->schedule), options.times(), resolved->lowerBound, {}};
}

TableStyle terminalStyle() {
  TableStyle style;
  style.hasColors = ::isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (style.hasColors && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = size.ws_col;
  return style;
}

absl::Status checkTimes(const Options &options) {
  for (double time :
       {options.actionTimes[0], options.actionTimes[1], options.actionTimes[2], options.transfer})
    if (!(time >= 0 && time <= 1e12))
      return absl::InvalidArgumentError(
          absl::StrFormat("--times, --transfer: %g; times are from 0 to 1e12, in any one unit", time));
  if (options.times().work() <= 0)
    return absl::InvalidArgumentError("--times: F, B and W take no time; at least one must");
  if (options.limit && !(*options.limit > 0))
    return absl::InvalidArgumentError(
        absl::StrFormat("--limit: %g; a rank holds at least something from F to W", *options.limit));
  return absl::OkStatus();
}

absl::Status show(const Options &options) {
  absl::StatusOr<Shown> shown = findShown(options);
  if (!shown.ok())
    return shown.status();
  const PipelineSchedule &schedule = shown->schedule;
  const ActionTimes &times = shown->times;
  absl::StatusOr<Timeline> timeline = simulate(schedule, times);
  if (!timeline.ok())
    return timeline.status();
  std::printf("%s: %s\n", schedule.name.c_str(), describeShape(schedule, times).c_str());
  std::fputs(scheduleTable(schedule, *timeline, times, terminalStyle()).c_str(), stdout);
  std::fputs(scheduleFigures(schedule, *timeline, times, shown->lowerBound, shown->peakBytes).c_str(),
             stdout);
  std::fflush(stdout);
  const auto write = [](const std::string &path, const std::string &text) {
    return path.empty() ? absl::OkStatus() : writeFileAtomically(path, text);
  };
  absl::Status status =
      write(options.svg, options.svg.empty() ? "" : scheduleSvg(schedule, *timeline, times));
  status.Update(write(options.trace, options.trace.empty() ? "" : scheduleTrace(schedule, *timeline, times)));
  status.Update(write(options.output, options.output.empty() ? "" : printSchedule(schedule)));
  return status;
}

absl::Status verify(const Options &options) {
  for (const std::string &path : options.files) {
    absl::StatusOr<PipelineSchedule> schedule = loadSchedule(path, options.limit);
    if (!schedule.ok())
      return schedule.status();
    const std::vector<int> held = mostHeld(*schedule);
    std::printf(
        "%s: complete, in order, without a circle: %d ranks, %d stages (%s), %d microbatches, at most %d "
        "chunks held\n",
        path.c_str(), schedule->ranks, schedule->stages(), std::string(name(schedule->layout)).c_str(),
        schedule->microbatches, *std::max_element(held.begin(), held.end()));
  }
  return absl::OkStatus();
}

absl::Status compare(const Options &options) {
  const ScheduleShape shape = options.shape();
  absl::StatusOr<ScheduleKind> any = findScheduleKind("interleaved");
  if (absl::Status status = any.ok() ? checkShape(*any, shape) : any.status(); !status.ok())
    return status;
  std::fputs(compareSchedules(shape, options.times(), options.heldLimit()).c_str(), stdout);
  return absl::OkStatus();
}

void addShapeOptions(CLI::App &command, Options &options) {
  command.add_option("--ranks", options.ranks, "Pipeline ranks (default: 4)")->check(CLI::PositiveNumber);
  command.add_option("--microbatches", options.microbatches, "Microbatches of a step (default: 8)")
      ->check(CLI::PositiveNumber);
  command.add_option("--chunks", options.chunks, "Stages of each rank, for interleaved and auto")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--group-size", options.groupSize, "Microbatches that pass a chunk together (interleaved)")
      ->check(CLI::PositiveNumber);
}

void addTimeOptions(CLI::App &command, Options &options) {
  command
      .add_option("--times", options.actionTimes,
                  "Times of a rank's whole share of the model for one microbatch (default: 1,1,1)")
      ->type_name("F,B,W")
      ->delimiter(',')
      ->expected(3);
  command.add_option("--transfer", options.transfer, "Time from one rank to another (default: 0)");
}

void addLimitOption(CLI::App &command, Options &options, const char *text) {
  command.add_option("--limit", options.limit, text)->type_name("MICROBATCHES");
}

std::string schedulesFooter() {
  std::string footer = "SCHEDULE is auto, file:PATH, or one of\n";
  for (const ScheduleKind &kind : scheduleKinds())
    absl::StrAppendFormat(&footer, "  %-18s %s (%s)\n", std::string(kind.name), std::string(kind.summary),
                          std::string(kind.source));
  return footer + "docs/pipelines.md shows each.";
}

} // namespace

int runScheduleCommand(int argc, char **argv) {
  CLI::App app("Pipeline schedules: who does what, in which order, and what it costs.", "weft schedule");
  app.require_subcommand(1);
  app.footer(schedulesFooter());
  Options options;
  const char *limit = "The most that a rank may hold from F to W, in microbatches of its whole share";
  CLI::App *showing = app.add_subcommand("show", "Show a schedule in time, with its bubble and memory");
  showing
      ->add_option("SCHEDULE", options.schedule,
                   "A name, auto, file:PATH, or a run file (YAML): its pipeline")
      ->required();
  showing->add_option("--set", options.overrides,
                      "Overrides a key of the run file: --set train.micro_batch=1");
  addShapeOptions(*showing, options);
  addTimeOptions(*showing, options);
  addLimitOption(*showing, options, limit);
  showing->add_option("--svg", options.svg, "Write a picture");
  showing->add_option("--trace", options.trace, "Write the plan as a trace for ui.perfetto.dev");
  showing->add_option("-o,--output", options.output, "Write the lists, to change and use as file:PATH");
  CLI::App *verifying = app.add_subcommand("verify", "Check schedules that you wrote");
  verifying->add_option("FILE", options.files, "Files of schedules")->required();
  addLimitOption(*verifying, options, limit);
  CLI::App *comparing = app.add_subcommand("compare", "Tabulate all schedules for a shape");
  addShapeOptions(*comparing, options);
  addTimeOptions(*comparing, options);
  addLimitOption(*comparing, options,
                 "What auto may hold on a rank, in microbatches of its share (default: ranks)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return static_cast<int>(app.exit(error) == 0 ? ExitCode::Ok : ExitCode::Config);
  }
  for (CLI::App *command : {showing, comparing})
    options.hasTimes |= command->count("--times") > 0 || command->count("--transfer") > 0;
  absl::Status status = checkTimes(options);
  if (status.ok())
    status = showing->parsed() ? show(options) : verifying->parsed() ? verify(options) : compare(options);
  if (status.ok())
    return static_cast<int>(ExitCode::Ok);
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return static_cast<int>(ExitCode::Config);
}

} // namespace weft
