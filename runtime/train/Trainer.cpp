//===- Trainer.cpp - The training loop ------------------------------------===//
//
// Within a step, in this order: compute, anomalies, evaluation, metrics, checkpoint. A line of metrics is on
// the disk before the checkpoint that counts on it is whole.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/Trainer.h"

#include "runtime/executable/Communication.h"
#include "runtime/executable/LogicalTime.h"
#include "runtime/metrics/ConsoleLine.h"
#include "runtime/metrics/HumanFormat.h"
#include "runtime/metrics/LossPlot.h"
#include "runtime/metrics/ResidentMemory.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/FileText.h"
#include "runtime/train/DataRank.h"
#include "runtime/train/ParameterNorms.h"
#include "runtime/train/Profile.h"
#include "runtime/train/RankAgreement.h"
#include "runtime/train/TraceOnRanks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace weft {
namespace {

/// The step of this job (from 1) that --profile times: warm, and early.
constexpr int64_t kProfiledStep = 3;
/// Weight of the newest step in the pace that eta is computed from.
constexpr double kPaceWeight = 0.1;

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

StepOrder StepOrder::of(const std::vector<Executable> &parts, const Config &config) {
  const std::vector<Program> &programs = parts.front().programs;
  StepOrder order;
  for (uint32_t program = 0; program < programs.size(); ++program)
    if (programs[program].name == "step") {
      order.startTimes = startTimesOf(parts, program);
      if (!config.train.dump.steps.empty())
        order.values = namedValues(parts, ProgramHandle{program});
    }
  return order;
}

Trainer::Trainer(TrainerContext theContext, Progress theProgress, StepProgram theStep)
    : context(std::move(theContext)), progress(std::move(theProgress)), step(std::move(theStep)),
      scalars(context.executor), spikes(context.config.train.spike, progress.recentLosses),
      firstStep(progress.step) {}

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::create(TrainerContext context, Progress progress) {
  absl::StatusOr<StepProgram> step =
      StepProgram::bind(context.executor, context.config, context.communicator.rank());
  if (!step.ok())
    return step.status();
  std::unique_ptr<Trainer> trainer(new Trainer(std::move(context), std::move(progress), *std::move(step)));
  if (absl::Status status = trainer->openParts(); !status.ok())
    return status;
  return trainer;
}

absl::Status Trainer::openParts() {
  const Config &config = context.config;
  const DataRank rank = dataRankOf(context.executor.executable().mesh, context.communicator.rank());
  DataLoaderOptions options;
  options.globalBatch = config.train.globalBatch;
  options.microBatch = config.train.microBatch;
  options.dataRanks = rank.count;
  options.rank = rank.index;
  options.firstStep = progress.step;
  absl::StatusOr<std::unique_ptr<DataLoader>> opened = DataLoader::create(context.data, options);
  if (!opened.ok())
    return withExitCode(opened.status(), ExitCode::Data);
  loader = *std::move(opened);
  if (config.data.validationFraction > 0) {
    absl::StatusOr<Evaluator> bound = Evaluator::bind(
        context.executor, context.communicator, config,
        heldOutSamples(context.data, config.eval.batches * config.train.globalBatch), context.tokenizer);
    if (bound.ok())
      evaluator = *std::move(bound);
    else if (absl::IsNotFound(bound.status()))
      context.log.warning(
          absl::StrCat(bound.status().message(), ". The validation loss is not measured in this run."));
    else
      return bound.status();
  }
  openSaver();
  return leads() ? openWriters() : absl::OkStatus();
}

absl::Status Trainer::openWriters() {
  absl::StatusOr<MetricsWriter> opened = MetricsWriter::open(context.folder.metrics(), progress.step);
  if (!opened.ok())
    return withExitCode(opened.status(), ExitCode::Checkpoint);
  metrics.emplace(*std::move(opened));
  if (!context.config.metrics.tensorboard)
    return absl::OkStatus();
  absl::StatusOr<TensorBoardWriter> writer =
      TensorBoardWriter::open(context.folder.tensorBoard(), progress.step + 1);
  if (!writer.ok())
    return withExitCode(writer.status(), ExitCode::Checkpoint);
  tensorBoard.emplace(*std::move(writer));
  return absl::OkStatus();
}

absl::Status Trainer::run() {
  const int64_t steps = context.config.train.steps;
  if (progress.step >= steps) {
    context.log.line(absl::StrCat("nothing to do: checkpoint step-", progress.step,
                                  " is at or past train.steps (", steps,
                                  "). Set train.steps higher to go on."));
    return absl::OkStatus();
  }
  if (absl::Status status = endSave(train()); !status.ok())
    return status;
  if (progress.step < steps)
    return withExitCode(
        absl::CancelledError(absl::StrCat("stopped by a signal after step ", progress.step,
                                          ", which is saved; the same command goes on from there")),
        ExitCode::Stopped);
  return finish();
}

/// Until the last step, or until someone wants it to stop.
absl::Status Trainer::train() {
  bool stop = false;
  while (progress.step < context.config.train.steps && !stop)
    if (absl::Status status = runStep(stop); !status.ok())
      return status;
  return absl::OkStatus();
}

bool Trainer::isEvery(int64_t interval) const {
  return progress.step == context.config.train.steps || (interval > 0 && progress.step % interval == 0);
}

absl::Status Trainer::runStep(bool &stop) {
  StepResult result;
  const auto start = std::chrono::steady_clock::now();
  context.communicator.enter(Phase::Step, progress.step + 1);
  if (absl::Status status = computeStep(result); !status.ok())
    return status;
  const double seconds = secondsSince(start);
  lineSeconds += seconds;
  ++lineSteps;
  // The first step also fills caches, so it counts only until there is another.
  paceSeconds =
      progress.step <= firstStep + 1 ? seconds : paceSeconds + kPaceWeight * (seconds - paceSeconds);
  ++progress.step;
  if (absl::Status status = handleAnomalies(result); !status.ok())
    return status;
  if (absl::Status status = evaluate(); !status.ok())
    return status;
  if (absl::Status status = report(result); !status.ok())
    return status;
  absl::StatusOr<bool> asked = meet();
  if (!asked.ok())
    return asked.status();
  stop = *asked;
  const bool isLast = stop || progress.step == context.config.train.steps;
  return isLast || isEvery(context.config.checkpoint.interval) ? save(isLast) : absl::OkStatus();
}

absl::Status Trainer::computeStep(StepResult &result) {
  if (absl::Status status = step.fill(progress.step, *loader); !status.ok())
    return status;
  scalars.save();
  if (absl::Status status = runWatched(); !status.ok())
    return status;
  result = step.result();
  return absl::OkStatus();
}

/// Runs the step under the eyes of whoever wants to see it. The profile takes a step that nobody else
/// watches, on no rank.
absl::Status Trainer::runWatched() {
  const Config &config = context.config;
  const int64_t number = progress.step + 1;
  const std::vector<int64_t> &dumps = config.train.dump.steps;
  const bool isDumped = std::find(dumps.begin(), dumps.end(), number) != dumps.end();
  std::optional<ParameterNorms> watch;
  CommandObserver observer;
  if (config.metrics.perParameter > 0 && number % config.metrics.perParameter == 0) {
    watch.emplace(context.executor, context.communicator);
    observer = [&watch](const CommandRecord &record) { watch->observe(record); };
  }
  absl::Status status;
  if (isDumped) {
    status = dump(number, observer);
  } else if (context.profile && !wasProfiled && !observer && number >= firstStep + kProfiledStep) {
    status = runProfiled(number);
  } else {
    context.executor.setObserver(observer);
    status = step.run();
    context.executor.setObserver(nullptr);
  }
  norms.clear();
  if (!status.ok() || !watch)
    return status;
  absl::StatusOr<std::vector<std::pair<std::string, double>>> watched = watch->finish(step.result().gradNorm);
  if (!watched.ok())
    return watched.status();
  norms = *std::move(watched);
  return absl::OkStatus();
}

/// Times the step on all ranks, and holds what their communicators count against what was compiled.
absl::Status Trainer::runProfiled(int64_t number) {
  const Executable &executable = context.executor.executable();
  const Program &program = executable.programs[step.handle().index];
  Communicator &communicator = context.communicator;
  RunTimes times(program);
  absl::StatusOr<TraceClock> clock = startTraceClock(communicator, context.isOneProcess);
  if (!clock.ok())
    return clock.status();
  const Traffic before = communicator.traffic();
  if (absl::Status status = step.run(&times); !status.ok())
    return status;
  const Traffic counted = communicator.traffic().since(before);
  wasProfiled = true;
  if (absl::Status status = tellProfiles(times, counted); !status.ok())
    return status;
  absl::StatusOr<TraceReport> trace =
      gatherTrace(communicator, executable, times, *clock, {context.folder.path, number});
  if (!trace.ok() || !leads())
    return trace.status();
  const std::string file = context.folder.trace();
  const absl::Status written = writeFileAtomically(file, trace->file);
  context.log.line(trace->table);
  if (written.ok())
    context.log.line(absl::StrCat("trace: ", file, " shows each action of it (ui.perfetto.dev)"));
  else // training is what counts
    context.log.warning(absl::StrCat("no trace: ", written.message()));
  return absl::OkStatus();
}

/// Of the first rank that runs each part of the program.
absl::Status Trainer::tellProfiles(const RunTimes &times, const Traffic &counted) {
  const Executable &executable = context.executor.executable();
  const Mesh &mesh = executable.mesh;
  const int64_t rank = context.communicator.rank();
  std::string text;
  if (ownsPart(mesh, rank, {}, mesh.pipelineRank(rank))) {
    const auto ranks = static_cast<double>(mesh.ranks());
    const MachineRates &all = context.rates;
    text = profileTable(executable, times,
                        {all.flops / ranks, all.float32Flops / ranks, all.bytesPerSecond / ranks});
    if (mesh.ranks() > 1)
      absl::StrAppend(
          &text, "\n",
          compareTraffic(trafficOf(executable, executable.programs[step.handle().index]), counted));
  }
  absl::StatusOr<std::vector<std::string>> texts = gatherTexts(context.communicator, text);
  if (!texts.ok())
    return texts.status();
  for (size_t other = 0; leads() && other < texts->size(); ++other)
    if (!(*texts)[other].empty())
      context.log.line(mesh.pipelineRanks() == 1
                           ? (*texts)[other]
                           : absl::StrCat("pipeline rank ", mesh.pipelineRank(static_cast<int64_t>(other)),
                                          ": ", (*texts)[other]));
  return absl::OkStatus();
}

absl::Status Trainer::dump(int64_t number, const CommandObserver &observer) {
  if (absl::Status status = leads() ? makeFolders(context.folder.dumps()) : absl::OkStatus(); !status.ok())
    return status;
  const std::string file = context.folder.dump(number);
  absl::StatusOr<int64_t> values =
      dumpStep(context.executor, step, {context.order.values, context.config.train.dump.match, file},
               context.communicator, observer);
  if (!values.ok())
    return values.status();
  if (leads())
    context.log.line(absl::StrCat("dumped ", *values, " values of step ", number, " to ", file));
  return absl::OkStatus();
}

absl::Status Trainer::handleAnomalies(const StepResult &result) {
  const bool finite = std::isfinite(result.loss) && std::isfinite(result.gradNorm) && !result.skipped;
  absl::Status status;
  if (!finite)
    status = reportNonFinite(result);
  else if (std::optional<double> mean = spikes.add(result.loss))
    status = reportSpike(result, *mean);
  lastWasFinite = finite;
  progress.recentLosses = spikes.losses();
  return status;
}

absl::Status Trainer::reportNonFinite(const StepResult &result) {
  const OnNonfinite policy = context.config.train.onNonfinite;
  std::string text =
      absl::StrFormat("step %d: loss %g, grad_norm %g: not finite, so this step changes nothing",
                      progress.step, result.loss, result.gradNorm);
  if (policy == OnNonfinite::Skip && !lastWasFinite) {
    context.log.warning(text);
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> examined = examineNonFinite();
  if (!examined.ok())
    return examined.status();
  absl::StrAppend(&text, *examined);
  if (policy != OnNonfinite::Stop) {
    context.log.warning(text);
    return absl::OkStatus();
  }
  if (absl::Status status = saver->finish(); !status.ok())
    return status;
  absl::StrAppend(&text, "\ntrain.on_nonfinite is stop: the run ends here, ",
                  !saved && firstStep == 0
                      ? "and nothing was saved yet"
                      : absl::StrCat("its last checkpoint is step-", saved ? saved->step : firstStep));
  return withExitCode(absl::OutOfRangeError(text), ExitCode::NonFinite);
}

/// Which value was the first that is not finite, and the samples that led to it; the same on every rank, told
/// by the rank on which it came first.
absl::StatusOr<std::string> Trainer::examineNonFinite() {
  const auto part =
      static_cast<size_t>(context.executor.executable().mesh.pipelineRank(context.communicator.rank()));
  absl::StatusOr<std::optional<FirstNonFinite>> found =
      findFirstNonFinite(context.executor, step, scalars, context.order.startTimes[part]);
  if (!found.ok())
    return found.status();
  const std::optional<FirstNonFinite> &first = *found;
  const DataRank rank = dataRankOf(context.executor.executable().mesh, context.communicator.rank());
  std::string text = first ? absl::StrCat("\nfirst in program order: ", describe(*first)) : "";
  absl::StrAppend(&text, "\n",
                  describeSamples(*context.data, context.config, progress.step - 1,
                                  first ? first->microbatch : kNone, rank.index));
  absl::StatusOr<int> teller = rankOfFirst(context.communicator, first);
  if (!teller.ok())
    return teller.status();
  absl::StatusOr<std::vector<std::string>> texts = gatherTexts(context.communicator, text);
  if (!texts.ok())
    return texts.status();
  return (*texts)[static_cast<size_t>(*teller)];
}

absl::Status Trainer::reportSpike(const StepResult &result, double mean) {
  const SpikeConfig &spike = context.config.train.spike;
  std::string text =
      absl::StrFormat("step %d: loss %.4f is over %g times the mean of the last %d losses (%.4f)\n%s",
                      progress.step, result.loss, spike.factor, spike.window, mean,
                      describeSamples(*context.data, context.config, progress.step - 1, kNone));
  if (spike.action == OnSpike::Report) {
    context.log.warning(text);
    return absl::OkStatus();
  }
  return withExitCode(absl::OutOfRangeError(text + "\ntrain.spike.action is stop: the run ends here"),
                      ExitCode::NonFinite);
}

absl::Status Trainer::evaluate() {
  evaluation.reset();
  if (!evaluator || !isEvery(context.config.eval.interval))
    return absl::OkStatus();
  absl::StatusOr<Evaluation> done = evaluator->evaluate();
  if (!done.ok())
    return done.status();
  evaluation = lastEvaluation = *done;
  return absl::OkStatus();
}

StepMetrics Trainer::metricsOf(const StepResult &result) {
  const Config &config = context.config;
  const int64_t tokensPerStep = config.train.globalBatch * config.data.sequenceLength;
  StepMetrics record;
  record.step = progress.step;
  record.loss = result.loss;
  if (evaluation)
    record.valLoss = evaluation->loss;
  record.gradNorm = result.gradNorm;
  record.learningRate = result.learningRate;
  record.tokensPerSecond = static_cast<double>(lineSteps * tokensPerStep) / std::max(lineSeconds, 1e-9);
  if (context.flopsPerToken && context.rates.flops > 0) {
    // A peak that was measured while the machine did other work is too low; what a step reaches is a better
    // bound.
    const double achieved = *context.flopsPerToken * record.tokensPerSecond;
    context.rates.flops = std::max(context.rates.flops, achieved);
    record.mfu = achieved / context.rates.flops;
  }
  // Of the ranks in this process, whose resident memory stands beside it.
  record.memoryBytes = context.peakBytes;
  record.residentBytes = residentBytes().value_or(0);
  record.consumedTokens = progress.step * tokensPerStep;
  record.time = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  record.others = result.others;
  if (result.skipped)
    record.others.emplace_back("skipped", 1.0);
  addSaveMetrics(record);
  record.others.insert(record.others.end(), norms.begin(), norms.end());
  return record;
}

absl::Status Trainer::report(const StepResult &result) {
  const bool first = progress.step == firstStep + 1;
  if (!first && !evaluation && norms.empty() && !isEvery(context.config.metrics.interval))
    return absl::OkStatus();
  absl::StatusOr<double> waited = shareWaited();
  if (!waited.ok())
    return waited.status();
  StepMetrics record = metricsOf(result);
  record.dataWait = *waited;
  lineSeconds = 0;
  lineSteps = 0;
  if (!leads())
    return absl::OkStatus();
  const int64_t steps = context.config.train.steps;
  context.log.line(formatStepLine(record, steps, static_cast<double>(steps - progress.step) * paceSeconds));
  absl::Status status = metrics->append(record);
  if (status.ok() && tensorBoard)
    status = tensorBoard->append(record);
  return withExitCode(status, ExitCode::Checkpoint);
}

absl::StatusOr<double> Trainer::shareWaited() {
  const double waited = loader->secondsWaited();
  double share = std::min(1.0, (waited - waitedBefore) / std::max(lineSeconds, 1e-9));
  waitedBefore = waited;
  if (absl::Status status = context.communicator.allReduce(std::as_writable_bytes(std::span(&share, 1)),
                                                           DType::F64, ReduceKind::Max);
      !status.ok())
    return status;
  return share;
}

absl::Status Trainer::finish() {
  if (!leads())
    return absl::OkStatus();
  std::string text;
  if (lastEvaluation)
    absl::StrAppendFormat(&text, "validation %.4f (%.2f bits per byte)   ", lastEvaluation->loss,
                          lastEvaluation->bitsPerByte);
  absl::StrAppendFormat(&text, "saved %s (%.1f s)",
                        checkpoint::stepFolder(context.folder.checkpoints(), saved->step), saved->seconds);
  absl::StatusOr<std::vector<StepMetrics>> records = readMetrics(context.folder.metrics());
  absl::Status drawn = records.ok()
                           ? writeLossPlot({{"loss", *std::move(records)}}, context.folder.curve(), {})
                           : records.status();
  if (drawn.ok())
    absl::StrAppend(&text, "   curve: ", context.folder.curve());
  context.log.line(text);
  if (context.profile && !wasProfiled)
    context.log.warning(
        "no profile: it takes the third step of a job, or a later one without a dump or norms");
  if (!drawn.ok()) // what counts is saved
    context.log.warning(absl::StrCat("no curve: ", drawn.message()));
  return absl::OkStatus();
}

} // namespace weft
