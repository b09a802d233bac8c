//===- TrainRun.cpp - A run, from its file to its last step ---------------===//
//
// The order of the parts is that of what they cost: a second job or a key that may not change is told before
// anything is prepared or compiled.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/TrainRun.h"

#include "runtime/checkpoint/RunLock.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/config/ResumeComparison.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/FileText.h"
#include "runtime/support/Processors.h"
#include "runtime/train/Banner.h"
#include "runtime/train/InitialWeights.h"
#include "runtime/train/JobProcesses.h"
#include "runtime/train/MachineMemory.h"
#include "runtime/train/MachineRates.h"
#include "runtime/train/ModelFlops.h"
#include "runtime/train/RankAgreement.h"
#include "runtime/train/RunData.h"
#include "runtime/train/RunOnRanks.h"
#include "runtime/train/Trainer.h"
#include "runtime/train/VariableState.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <mutex>

namespace weft {
namespace {

/// Keys that the trainer reads and the compiler does not: an executable may be run with others.
constexpr absl::string_view kRuntimeKeys[] = {"checkpoint.",     "eval.",
                                              "metrics.",        "generate.",
                                              "launch.timeout.", "train.dump.",
                                              "train.spike.",    "train.on_nonfinite",
                                              "data.train[",     "data.stages[",
                                              "launch.ranks",    "launch.threads",
                                              "launch.comm",     "launch.check_collectives"};
/// One among these that the compiler reads: the memory plan has room for a snapshot, or has not.
constexpr absl::string_view kSnapshotKey = "checkpoint.asynchronous";

/// A run on its way to the trainers of its ranks, as one process sees it.
struct Job {
  LoadedConfig loaded;
  RunFolder folder;
  std::optional<checkpoint::RunLock> lock; ///< where rank 0 is
  RunLog log;                              ///< of rank 0, or of the rank that this process is
  std::once_flag told;                     ///< the failure of the rank that this process is
  std::vector<Executable> parts;           ///< until the ranks take them
  double compileSeconds = 0;
  std::optional<checkpoint::Checkpoint> resume;
  std::optional<InitialWeights> weights; ///< of a new run that does not begin at random
  std::unique_ptr<Tokenizer> tokenizer;
  std::shared_ptr<const TrainingData> data;
  std::optional<double> flopsPerToken;
  MachineRates rates;               ///< of all ranks together
  std::shared_ptr<ThreadPool> pool; ///< of all that computes in this process
};

absl::Status readProgram(Job &job, const std::string &file) {
  absl::StatusOr<std::vector<Executable>> parts = readExecutables(file);
  if (!parts.ok())
    return withExitCode(parts.status(), ExitCode::Config);
  job.parts = *std::move(parts);
  return absl::OkStatus();
}

/// Loads the config, and the program where `file` already is one.
absl::Status loadJob(const TrainRequest &request, const std::optional<Launcher> &launcher, Job &job) {
  if (isExecutableFile(request.file)) {
    if (absl::Status status = readProgram(job, request.file); !status.ok())
      return status;
    absl::StatusOr<LoadedConfig> loaded =
        executableConfig(job.parts.front(), request.file, request.overrides, launcher);
    if (!loaded.ok())
      return loaded.status();
    job.loaded = *std::move(loaded);
    return absl::OkStatus();
  }
  absl::StatusOr<LoadedConfig> loaded = loadConfig(request.file, request.overrides, launcher);
  if (!loaded.ok())
    return withExitCode(loaded.status(), ExitCode::Config);
  job.loaded = *std::move(loaded);
  return absl::OkStatus();
}

/// Counted from 1; of texts that differ.
int64_t firstDifferentLine(const std::string &a, const std::string &b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return 1 + std::count(a.begin(), end, '\n');
}

absl::Status checkLimit(const std::vector<Executable> &parts, const Config &config,
                        const JobProcesses &processes) {
  const MemoryLimits limits = memoryLimitsOf(config, processes.ranksOnMachine(config));
  const std::optional<MemoryOverrun> overrun = overrunOf(parts, limits);
  if (!overrun)
    return absl::OkStatus();
  return withExitCode(absl::ResourceExhaustedError(
                          absl::StrCat(describeOverrun(parts, *overrun, limits),
                                       " Compile it smaller: weft compile RUN.yaml tells what would fit.")),
                      ExitCode::OutOfMemory);
}

/// What the compiler must be told that is not in the run file: of this machine, and of the launcher.
CompileRequest compileRequest(const Job &job, const JobProcesses &processes) {
  const Config &config = job.loaded.config;
  CompileRequest request;
  request.limits = memoryLimitsOf(config, processes.ranksOnMachine(config));
  if (auto ranks = job.loaded.origins.find("launch.ranks");
      processes.areSeparate() && ranks != job.loaded.origins.end() && ranks->second.line == 0 &&
      ranks->second.source != "--set")
    request.ranks = config.launch.ranks.value_or(0);
  return request;
}

/// Keeps the text of model.program beside the executable. A run that goes on with another text says so.
absl::Status keepModel(const TrainRequest &request, Job &job) {
  const std::string &file = job.loaded.config.model.program;
  if (file.empty() || isExecutableFile(request.file))
    return absl::OkStatus();
  constexpr size_t largestFile = size_t{1} << 30;
  absl::StatusOr<std::string> text = readFileText(file, largestFile);
  if (!text.ok())
    return withExitCode(text.status(), ExitCode::Config);
  if (job.resume)
    if (absl::StatusOr<std::string> before = readFileText(job.folder.model(), largestFile);
        before.ok() && *before != *text)
      job.log.line(absl::StrCat("resume: model.program: line ", firstDifferentLine(*before, *text), " of ",
                                file, " is not what it was (", job.folder.model(),
                                "): training goes on with the changed model."));
  return withExitCode(writeFileAtomically(job.folder.model(), *text), ExitCode::Checkpoint);
}

/// Brings the program into the run's folder, compiled or copied, and into memory.
absl::Status prepareProgram(const TrainRequest &request, Job &job, const JobProcesses &processes) {
  const Config &config = job.loaded.config;
  if (isExecutableFile(request.file)) {
    if (absl::Status status = checkLimit(job.parts, config, processes); !status.ok())
      return status;
    return withExitCode(writeExecutables(job.parts, job.folder.program()), ExitCode::Checkpoint);
  }
  const auto start = std::chrono::steady_clock::now();
  CompileRequest compile = compileRequest(job, processes);
  compile.output = job.folder.program();
  compile.reproducer = job.folder.reproducer();
  if (absl::Status status = request.compile(compile); !status.ok())
    return status;
  job.compileSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return readProgram(job, job.folder.program());
}

absl::Status dryRun(const TrainRequest &request, const Job &job, const JobProcesses &processes) {
  if (!isExecutableFile(request.file))
    return request.compile(compileRequest(job, processes));
  if (absl::Status status = checkMesh(job.parts.front(), job.loaded.config); !status.ok())
    return status;
  return checkLimit(job.parts, job.loaded.config, processes);
}

/// What the threads of this process can compute together.
absl::StatusOr<MachineRates> measureHere(const Job &job, bool profile) {
  const Config &config = job.loaded.config;
  absl::StatusOr<std::unique_ptr<Device>> device =
      openCpuDevice(job.parts.front().target.instructionSet, job.pool);
  if (!device.ok())
    return withExitCode(device.status(), ExitCode::Config);
  absl::StatusOr<double> flops = measurePeakFlops(**device, config.precision.recipe);
  if (!flops.ok())
    return flops.status();
  if (!profile)
    return MachineRates{*flops, 0, 0};
  absl::StatusOr<double> wide = config.precision.recipe == PrecisionRecipe::Fp32
                                    ? flops
                                    : measurePeakFlops(**device, PrecisionRecipe::Fp32);
  if (!wide.ok())
    return wide.status();
  absl::StatusOr<double> bytes = measureMemoryBandwidth(**device);
  if (!bytes.ok())
    return bytes.status();
  return MachineRates{*flops, *wide, *bytes};
}

/// The same of all ranks: processes measure at the same time.
absl::StatusOr<MachineRates> measureMachine(const Job &job, bool profile, JobProcesses &processes) {
  absl::StatusOr<MachineRates> mine = measureHere(job, profile);
  if (!processes.areSeparate())
    return mine;
  if (absl::Status status = processes.agree(mine.status()); !status.ok())
    return status;
  double all[] = {mine->flops, mine->float32Flops, mine->bytesPerSecond};
  if (absl::Status status = processes.communicator()->allReduce(std::as_writable_bytes(std::span(all)),
                                                                DType::F64, ReduceKind::Sum);
      !status.ok())
    return status;
  return MachineRates{all[0], all[1], all[2]};
}

/// Fills the variables of a rank; returns how far the run is.
absl::StatusOr<Progress> loadState(const Job &job, Executor &executor, int rank, RunLog &log) {
  if (!job.resume) {
    initializeVariables(executor, static_cast<uint64_t>(job.loaded.config.train.seed), rank);
    if (absl::Status status =
            job.weights ? job.weights->restore(executor, rank, *job.pool) : absl::OkStatus();
        !status.ok())
      return status;
    return Progress();
  }
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<int64_t> read = restoreVariables(executor, *job.resume, false, rank, *job.pool);
  if (!read.ok())
    return read.status();
  int64_t bytes = 0;
  for (const Variable &variable : executor.executable().variables)
    bytes += variable.type.bytes();
  log.note(absl::StrFormat("read %d bytes for %d bytes of state in %.4f s", *read, bytes,
                           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
  return savedProgress(*job.resume);
}

/// Where the parameters come from.
std::string describeStart(const Job &job) {
  if (job.resume)
    return absl::StrCat("resuming: ", job.resume->folder());
  return job.weights ? absl::StrCat("starting from: ", job.weights->path()) : "resuming: nothing to resume";
}

/// Bytes that the ranks' devices have allocated for their programs.
absl::StatusOr<int64_t> sumOfAllocated(const Executor &executor, Communicator &communicator) {
  int64_t bytes = static_cast<int64_t>(executor.allocatedBytes());
  if (absl::Status status =
          communicator.allReduce(std::as_writable_bytes(std::span(&bytes, 1)), DType::I64, ReduceKind::Sum);
      !status.ok())
    return status;
  return bytes;
}

/// A rank's failure on its way out, told once: by its own thread, or by one that stands in for it. Whoever
/// survives a lost rank reports it, on every rank; any other failure is told by whoever started the ranks.
absl::Status tellFailure(const absl::Status &status, int rank, RunLog &log, std::once_flag &told) {
  if (status.ok())
    return status;
  const bool isLoss = !isOfAnotherRank(status) && exitCodeOf(status) == ExitCode::PeerLost;
  const std::string text = absl::StrCat("rank ", rank, ": ", status.message());
  std::call_once(told, [&] { isLoss ? log.report(text) : log.note(text); });
  return isLoss ? withExitCode(absl::UnavailableError(""), ExitCode::PeerLost) : status;
}

/// What is known of the whole program, of which a rank has a part.
struct WholeProgram {
  std::string peak;    ///< peakText
  int64_t planned = 0; ///< allocatedOnAll
  int64_t here = 0;    ///< peak bytes of the ranks in this process
  StepOrder order;
  bool isOneProcess = true; ///< all ranks are threads of this process
};

WholeProgram describeWhole(const Job &job, const JobProcesses &processes) {
  const std::vector<Executable> &parts = job.parts;
  const int64_t here = processes.areSeparate()
                           ? static_cast<int64_t>(partOf(parts, processes.rank()).memory.peakBytes())
                           : peakOfRanks(parts, parts.front().mesh.ranks());
  return {peakText(parts), allocatedOnAll(parts), here, StepOrder::of(parts, job.loaded.config),
          !processes.areSeparate()};
}

/// One rank: its state, then the loop.
absl::Status trainRank(const TrainRequest &request, const Job &job, const WholeProgram &whole, RunLog &log,
                       Executor &executor, Communicator &communicator) {
  communicator.setLimits(limitsOf(job.loaded.config));
  RunIdentity identity{job.loaded.resolvedYaml(), job.tokenizer->checksum(), job.data->checksum(),
                       printMesh(executor.executable().mesh)};
  absl::StatusOr<int64_t> allocated = sumOfAllocated(executor, communicator);
  if (!allocated.ok())
    return allocated.status();
  log.line(programLine(whole.peak, whole.planned, *allocated, job.compileSeconds, job.rates.flops));
  absl::StatusOr<Progress> progress = loadState(job, executor, communicator.rank(), log);
  if (!progress.ok())
    return progress.status();
  log.line(absl::StrCat(describeData(job.loaded.config, *job.data), "   ", describeStart(job)));
  TrainerContext context{job.loaded.config,
                         job.folder,
                         executor,
                         job.data,
                         *job.tokenizer,
                         communicator,
                         log,
                         std::move(identity),
                         job.flopsPerToken,
                         job.rates,
                         whole.here,
                         whole.order,
                         whole.isOneProcess,
                         request.profile,
                         request.stopRequested,
                         request.saving};
  absl::StatusOr<std::unique_ptr<Trainer>> trainer =
      Trainer::create(std::move(context), *std::move(progress));
  if (!trainer.ok())
    return trainer.status();
  return (*trainer)->run();
}

/// Everything after the program is there.
absl::Status startRanks(const TrainRequest &request, Job &job, JobProcesses &processes) {
  job.flopsPerToken = modelFlopsPerToken(job.loaded.config, job.parts);
  if (job.flopsPerToken || request.profile) {
    absl::StatusOr<MachineRates> measured = measureMachine(job, request.profile, processes);
    if (!measured.ok())
      return measured.status();
    job.rates = *measured;
  }
  const WholeProgram whole = describeWhole(job, processes);
  const RankBody body = [&](Executor &executor, Communicator &communicator) {
    const int rank = communicator.rank();
    if (processes.areSeparate())
      return trainRank(request, job, whole, job.log, executor, communicator);
    std::once_flag told;
    if (rank == 0)
      return tellFailure(trainRank(request, job, whole, job.log, executor, communicator), rank, job.log,
                         told);
    absl::StatusOr<RunLog> log = RunLog::open(job.folder.log(rank), false);
    return log.ok()
               ? tellFailure(trainRank(request, job, whole, *log, executor, communicator), rank, *log, told)
               : log.status();
  };
  return runOnRanks(std::move(job.parts), job.pool, body, processes.communicator(), request.wrapCommunicator);
}

/// The run's folder and this process's log in it; where rank 0 is, also the lock.
absl::Status openFolder(const TrainRequest &request, Job &job, JobProcesses &processes) {
  absl::StatusOr<RunFolder> folder =
      makeRunFolder(request.runs, request.name.empty() ? defaultRunName(request.file) : request.name);
  if (!folder.ok())
    return folder.status();
  job.folder = *std::move(folder);
  if (processes.leads()) {
    absl::StatusOr<checkpoint::RunLock> lock = checkpoint::RunLock::acquire(job.folder.path);
    if (!lock.ok())
      return lock.status();
    job.lock.emplace(*std::move(lock));
  }
  absl::StatusOr<RunLog> log = RunLog::open(job.folder.log(processes.rank()), processes.leads());
  if (!log.ok())
    return log.status();
  job.log = *std::move(log);
  processes.setStandIn(
      {[&job, rank = processes.rank()](const absl::Status &failure) {
         tellFailure(failure, rank, job.log, job.told).IgnoreError();
       },
       [](const absl::Status &failure) { std::_Exit(static_cast<int>(exitCodeOf(failure))); }});
  return absl::OkStatus();
}

/// The tokenizer and the data, prepared if need be.
absl::Status openData(const TrainRequest &request, Job &job) {
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer =
      isExecutableFile(request.file) ? loadTokenizer(job.parts.front().tokenizer.str())
                                     : createTokenizer(job.loaded.config.tokenizer);
  if (!tokenizer.ok())
    return withExitCode(tokenizer.status(), ExitCode::Config);
  if (absl::Status status = checkVocabulary(**tokenizer, job.loaded.config); !status.ok())
    return withExitCode(status, ExitCode::Config);
  job.tokenizer = *std::move(tokenizer);
  absl::StatusOr<std::shared_ptr<const TrainingData>> data =
      openRunData(job.loaded.config, *job.tokenizer, dataCache(request.runs), job.log);
  if (!data.ok())
    return data.status();
  job.data = *std::move(data);
  return absl::OkStatus();
}

/// Opens what a new run's parameters come from, if not from random numbers.
absl::Status openWeights(Job &job) {
  const Config &config = job.loaded.config;
  const std::string &path = config.checkpoint.initialLoadPath;
  if (path.empty())
    return absl::OkStatus();
  if (job.resume) {
    job.log.line(absl::StrCat("checkpoint.initial_load_path is not read: the run goes on from ",
                              job.resume->folder()));
    return absl::OkStatus();
  }
  absl::StatusOr<InitialWeights> weights =
      InitialWeights::open(config, job.parts, job.tokenizer->checksum(), job.log);
  if (!weights.ok())
    return weights.status();
  job.weights.emplace(*std::move(weights));
  return absl::OkStatus();
}

/// Everything up to the program, where rank 0 is.
absl::Status prepareJob(const TrainRequest &request, Job &job, JobProcesses &processes) {
  if (absl::Status status = openFolder(request, job, processes); !status.ok())
    return status;
  const Config &config = job.loaded.config;
  absl::StatusOr<std::optional<checkpoint::Checkpoint>> resume =
      findResumePoint(job.folder.checkpoints(), config, job.log);
  if (!resume.ok())
    return resume.status();
  job.resume = *std::move(resume);
  if (absl::Status status = writeFileAtomically(job.folder.config(), job.loaded.resolvedYaml()); !status.ok())
    return withExitCode(status, ExitCode::Checkpoint);
  if (absl::Status status = openData(request, job); !status.ok())
    return status;
  if (job.resume)
    if (absl::Status status =
            checkIdentity(*job.resume, {"", job.tokenizer->checksum(), job.data->checksum()});
        !status.ok())
      return status;
  if (absl::Status status = prepareProgram(request, job, processes); !status.ok())
    return status;
  if (absl::Status status = checkMesh(job.parts.front(), config); !status.ok())
    return status;
  if (job.resume)
    if (absl::Status status = checkSaved(job.parts, *job.resume); !status.ok())
      return status;
  if (absl::Status status = openWeights(job); !status.ok())
    return status;
  if (absl::Status status = keepModel(request, job); !status.ok())
    return status;
  job.log.line(bannerLine(config, job.parts, job.pool->size(), processes.areSeparate()));
  if (request.stopRequested())
    return withExitCode(absl::CancelledError("stopped by a signal before the first step"), ExitCode::Stopped);
  return absl::OkStatus();
}

/// What the other processes have from rank 0: the program, and where to resume; and their own data.
absl::Status followLeader(const TrainRequest &request, Job &job, JobProcesses &processes,
                          const std::string &program, const std::string &resume) {
  absl::StatusOr<std::vector<Executable>> parts = parseExecutables(program, "the program of rank 0");
  if (!parts.ok())
    return withExitCode(parts.status(), ExitCode::Config);
  job.parts = *std::move(parts);
  if (absl::Status status = openFolder(request, job, processes); !status.ok())
    return status;
  if (!resume.empty()) {
    absl::StatusOr<checkpoint::Checkpoint> checkpoint = checkpoint::openCheckpoint(resume);
    if (!checkpoint.ok())
      return withExitCode(checkpoint.status(), ExitCode::Checkpoint);
    job.resume = *std::move(checkpoint);
  }
  if (absl::Status status = openData(request, job); !status.ok())
    return status;
  return openWeights(job);
}

/// Brings all processes to where rank 0 is, and compares what they have.
absl::Status distribute(const TrainRequest &request, Job &job, JobProcesses &processes) {
  std::string program, resume;
  absl::Status status;
  if (processes.leads()) {
    absl::StatusOr<std::string> bytes = serializeExecutables(job.parts);
    status = bytes.status();
    program = bytes.ok() ? *std::move(bytes) : std::string();
    resume = job.resume ? job.resume->folder() : std::string();
  }
  if (status = processes.agree(status); !status.ok())
    return status;
  if (status = processes.share(program); !status.ok())
    return status;
  if (status = processes.share(resume); !status.ok())
    return status;
  status = processes.leads() ? absl::OkStatus() : followLeader(request, job, processes, program, resume);
  if (status = processes.agree(status); !status.ok())
    return status;
  const RunIdentity identity{job.loaded.resolvedYaml(), job.tokenizer->checksum(), job.data->checksum()};
  return processes.agree(
      checkRanksAgree(*processes.communicator(), identity, XXH64(program.data(), program.size(), 0)));
}

absl::Status runJob(const TrainRequest &request, Job &job, JobProcesses &processes) {
  if (processes.areSeparate())
    if (absl::Status status = processes.agree(checkConfigsAgree(*processes.communicator(), job.loaded));
        !status.ok())
      return status;
  if (request.dryRun)
    return processes.agree(processes.leads() ? dryRun(request, job, processes) : absl::OkStatus());
  absl::StatusOr<std::shared_ptr<ThreadPool>> pool = openThreadPool(processes.threads(job.loaded.config));
  if (absl::Status status = processes.agree(withExitCode(pool.status(), ExitCode::Config)); !status.ok())
    return status;
  job.pool = *std::move(pool);
  if (absl::Status status =
          processes.agree(processes.leads() ? prepareJob(request, job, processes) : absl::OkStatus());
      !status.ok())
    return status;
  if (processes.areSeparate())
    if (absl::Status status = distribute(request, job, processes); !status.ok())
      return status;
  return startRanks(request, job, processes);
}

} // namespace

bool isExecutableFile(const std::string &file) { return absl::EndsWith(file, ".weft"); }

MemoryLimits memoryLimitsOf(const Config &config, int64_t ranks) {
  return {config.launch.memoryPerRank,
          config.launch.memoryLimit ? *config.launch.memoryLimit : machineMemoryLimit(), ranks};
}

MemoryLimits planLimitsOf(const Config &config) {
  if (config.launch.memoryPerRank)
    return {config.launch.memoryPerRank, std::nullopt, 1};
  if (!config.launch.memoryLimit && config.parallel.ranks() > kMostLocalRanks)
    return {};
  return memoryLimitsOf(config, config.parallel.ranks());
}

absl::StatusOr<LoadedConfig> executableConfig(const Executable &executable, const std::string &file,
                                              const std::vector<std::string> &overrides,
                                              const std::optional<Launcher> &launcher) {
  const std::string here = std::filesystem::current_path().string();
  absl::StatusOr<LoadedConfig> compiled = loadConfigText(executable.config.str(), file + ": config", here);
  if (!compiled.ok())
    return withExitCode(compiled.status(), ExitCode::Config);
  absl::StatusOr<LoadedConfig> loaded =
      loadConfigText(executable.config.str(), file + ": config", here, overrides, launcher);
  if (!loaded.ok())
    return withExitCode(loaded.status(), ExitCode::Config);
  for (const ResumeDifference &difference : compareForResume(compiled->config, loaded->config)) {
    const bool known =
        std::any_of(std::begin(kRuntimeKeys), std::end(kRuntimeKeys),
                    [&](absl::string_view key) { return absl::StartsWith(difference.path, key); });
    if (!known || (difference.path == kSnapshotKey && loaded->config.checkpoint.asynchronous))
      return withExitCode(
          absl::FailedPreconditionError(absl::StrCat("--set ", difference.path, "=", difference.current, ": ",
                                                     file, " was compiled with ", difference.saved,
                                                     ". Compile again: weft compile RUN.yaml -o ", file,
                                                     " --set ", difference.path, "=", difference.current)),
          ExitCode::Config);
  }
  return loaded;
}

absl::Status trainRun(const TrainRequest &request) {
  absl::StatusOr<std::optional<Launcher>> launcher = findLauncher();
  if (!launcher.ok())
    return withExitCode(launcher.status(), ExitCode::Config);
  Job job;
  absl::Status status = loadJob(request, *launcher, job);
  absl::StatusOr<JobProcesses> processes =
      JobProcesses::join(*launcher, job.loaded.config, absl::StrCat("weft train ", request.file));
  if (!processes.ok())
    return status.ok() ? processes.status() : status;
  status = processes->agree(status);
  if (status.ok())
    status = runJob(request, job, *processes);
  if (processes->areSeparate())
    status = tellFailure(status, processes->rank(), job.log, job.told);
  return processes->end(std::move(status));
}

} // namespace weft
