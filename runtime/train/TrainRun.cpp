//===- TrainRun.cpp - A run, from its file to its last step ---------------===//
//
// The order of the parts is that of what they cost: a second job or a key that may not change is told before
// anything is prepared or compiled.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/TrainRun.h"

#include "runtime/checkpoint/RunLock.h"
#include "runtime/config/ResumeComparison.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/FileText.h"
#include "runtime/support/Processors.h"
#include "runtime/train/Banner.h"
#include "runtime/train/MachineMemory.h"
#include "runtime/train/ModelFlops.h"
#include "runtime/train/RankAgreement.h"
#include "runtime/train/RunData.h"
#include "runtime/train/RunOnRanks.h"
#include "runtime/train/Trainer.h"
#include "runtime/train/VariableState.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace weft {
namespace {

/// Keys that the trainer reads and the compiler does not: an executable may be run with others.
constexpr absl::string_view kRuntimeKeys[] = {
    "checkpoint.", "eval.",        "metrics.",           "generate.",  "launch.timeout.",
    "train.dump.", "train.spike.", "train.on_nonfinite", "data.train["};

/// A run on its way to the trainers of its ranks.
struct Job {
  LoadedConfig loaded;
  RunFolder folder;
  RunLog log; ///< rank 0's
  Executable executable;
  double compileSeconds = 0;
  std::optional<checkpoint::Checkpoint> resume;
  std::unique_ptr<Tokenizer> tokenizer;
  std::shared_ptr<const TrainingData> data;
  std::optional<double> flopsPerToken;
  double peakFlops = 0; ///< of all ranks together
};

absl::Status readProgram(Job &job, const std::string &file) {
  absl::StatusOr<Executable> executable = readExecutable(file);
  if (!executable.ok())
    return withExitCode(executable.status(), ExitCode::Config);
  job.executable = *std::move(executable);
  return absl::OkStatus();
}

/// Loads the config, and the program where `file` already is one.
absl::Status loadJob(const TrainRequest &request, Job &job) {
  if (isExecutableFile(request.file)) {
    if (absl::Status status = readProgram(job, request.file); !status.ok())
      return status;
    absl::StatusOr<LoadedConfig> loaded = executableConfig(job.executable, request.file, request.overrides);
    if (!loaded.ok())
      return loaded.status();
    job.loaded = *std::move(loaded);
    return absl::OkStatus();
  }
  absl::StatusOr<LoadedConfig> loaded = loadConfig(request.file, request.overrides);
  if (!loaded.ok())
    return withExitCode(loaded.status(), ExitCode::Config);
  job.loaded = *std::move(loaded);
  return absl::OkStatus();
}

absl::Status checkLimit(const Executable &executable, const Config &config) {
  const uint64_t needed = executable.memory.peakBytes();
  if (needed <= static_cast<uint64_t>(memoryLimitOf(config)))
    return absl::OkStatus();
  const int64_t ranks = config.parallel.ranks();
  return withExitCode(
      absl::ResourceExhaustedError(absl::StrFormat(
          "memory: this plan needs %d bytes%s, the limit is %d (launch.memory_limit, or what "
          "this machine gives%s). Compile it smaller: weft compile RUN.yaml tells what would fit.",
          needed, ranks == 1 ? "" : " per rank", memoryLimitOf(config),
          ranks == 1 ? "" : absl::StrCat(", shared by ", ranks, " ranks"))),
      ExitCode::OutOfMemory);
}

/// Brings the program into the run's folder, compiled or copied, and into memory.
absl::Status prepareProgram(const TrainRequest &request, Job &job) {
  const Config &config = job.loaded.config;
  if (isExecutableFile(request.file)) {
    if (absl::Status status = checkLimit(job.executable, config); !status.ok())
      return status;
    return withExitCode(writeExecutable(job.executable, job.folder.program()), ExitCode::Checkpoint);
  }
  const auto start = std::chrono::steady_clock::now();
  if (absl::Status status =
          request.compile({job.folder.program(), job.folder.reproducer(), memoryLimitOf(config)});
      !status.ok())
    return status;
  job.compileSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return readProgram(job, job.folder.program());
}

absl::Status dryRun(const TrainRequest &request, const Job &job) {
  if (isExecutableFile(request.file)) {
    if (absl::Status status = checkMesh(job.executable, job.loaded.config); !status.ok())
      return status;
    return checkLimit(job.executable, job.loaded.config);
  }
  return request.compile({"", "", memoryLimitOf(job.loaded.config)});
}

/// What the threads of all ranks can compute together, which is no more than the processors can.
absl::StatusOr<double> measureMachine(const Config &config, const Target &target) {
  constexpr int64_t most = 128; // of a device
  const int64_t ranks = config.parallel.ranks(), threads = target.threads;
  const int64_t useful =
      ranks == 1 ? threads : std::min(ranks * threads, std::max(threads, availableProcessors()));
  absl::StatusOr<std::unique_ptr<Device>> device =
      openCpuDevice(target.instructionSet, static_cast<int>(std::min(useful, most)));
  if (!device.ok())
    return withExitCode(device.status(), ExitCode::Config);
  return measurePeakFlops(**device, config.precision.recipe);
}

/// Fills the variables of a rank; returns how far the run is.
absl::StatusOr<Progress> loadState(const Job &job, Executor &executor, int rank) {
  if (!job.resume) {
    initializeVariables(executor, static_cast<uint64_t>(job.loaded.config.train.seed), rank);
    return Progress();
  }
  if (absl::Status status = restoreVariables(executor, *job.resume, false, rank); !status.ok())
    return status;
  return savedProgress(*job.resume);
}

/// Bytes that the ranks' devices have allocated for their programs.
absl::StatusOr<int64_t> allocatedOnAll(const Executor &executor, Communicator &communicator) {
  int64_t bytes = static_cast<int64_t>(executor.allocatedBytes());
  if (absl::Status status =
          communicator.allReduce(std::as_writable_bytes(std::span(&bytes, 1)), DType::I64, ReduceKind::Sum);
      !status.ok())
    return status;
  return bytes;
}

/// A rank's failure on its way out. Whoever survives a lost rank reports it, on every rank; any other failure
/// is told once, by whoever started the ranks.
absl::Status tellFailure(absl::Status status, int rank, RunLog &log) {
  const std::string text = absl::StrCat("rank ", rank, ": ", status.message());
  if (status.ok() || isOfAnotherRank(status) || exitCodeOf(status) != ExitCode::PeerLost) {
    if (!status.ok())
      log.note(text);
    return status;
  }
  log.report(text);
  return withExitCode(absl::UnavailableError(""), ExitCode::PeerLost);
}

/// One rank: its state, then the loop.
absl::Status trainRank(const TrainRequest &request, const Job &job, RunLog &log, Executor &executor,
                       Communicator &communicator) {
  const TimeoutConfig &timeout = job.loaded.config.launch.timeout;
  communicator.setLimits({timeout.start, timeout.step, timeout.save});
  RunIdentity identity{job.loaded.resolvedYaml(), job.tokenizer->checksum(), job.data->checksum(),
                       printMesh(executor.executable().mesh)};
  if (absl::Status status = checkRanksAgree(communicator, identity); !status.ok())
    return status;
  absl::StatusOr<int64_t> allocated = allocatedOnAll(executor, communicator);
  if (!allocated.ok())
    return allocated.status();
  log.line(programLine(executor.executable(), *allocated, job.compileSeconds, job.peakFlops));
  absl::StatusOr<Progress> progress = loadState(job, executor, communicator.rank());
  if (!progress.ok())
    return progress.status();
  log.line(absl::StrCat(describeData(job.loaded.config, *job.data), "   resuming: ",
                        job.resume ? job.resume->folder() : std::string("nothing to resume")));
  TrainerContext context{job.loaded.config,
                         job.folder,
                         executor,
                         job.data,
                         *job.tokenizer,
                         communicator,
                         log,
                         std::move(identity),
                         job.flopsPerToken,
                         job.peakFlops,
                         request.profile && communicator.rank() == 0,
                         request.stopRequested};
  absl::StatusOr<std::unique_ptr<Trainer>> trainer =
      Trainer::create(std::move(context), *std::move(progress));
  if (!trainer.ok())
    return trainer.status();
  return (*trainer)->run();
}

/// Everything after the program is there.
absl::Status startRanks(const TrainRequest &request, Job &job) {
  const Config &config = job.loaded.config;
  job.flopsPerToken = modelFlopsPerToken(config, job.executable);
  if (job.flopsPerToken) {
    absl::StatusOr<double> measured = measureMachine(config, job.executable.target);
    if (!measured.ok())
      return measured.status();
    job.peakFlops = *measured;
  }
  const int threads = static_cast<int>(job.executable.target.threads);
  const RankBody body = [&](Executor &executor, Communicator &communicator) {
    const int rank = communicator.rank();
    if (rank == 0)
      return tellFailure(trainRank(request, job, job.log, executor, communicator), rank, job.log);
    absl::StatusOr<RunLog> log = RunLog::open(job.folder.log(rank), false);
    return log.ok() ? tellFailure(trainRank(request, job, *log, executor, communicator), rank, *log)
                    : log.status();
  };
  return runOnRanks(std::move(job.executable), threads, body, request.wrapCommunicator);
}

absl::Status runJob(const TrainRequest &request, Job &job) {
  const Config &config = job.loaded.config;
  absl::StatusOr<std::optional<checkpoint::Checkpoint>> resume =
      findResumePoint(job.folder.checkpoints(), config, job.log);
  if (!resume.ok())
    return resume.status();
  job.resume = *std::move(resume);
  if (absl::Status status = writeFileTextAtomically(job.folder.config(), job.loaded.resolvedYaml());
      !status.ok())
    return withExitCode(status, ExitCode::Checkpoint);
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer =
      isExecutableFile(request.file) ? loadTokenizer(job.executable.tokenizer) : createTokenizer("bytes");
  if (!tokenizer.ok())
    return withExitCode(tokenizer.status(), ExitCode::Config);
  job.tokenizer = *std::move(tokenizer);
  absl::StatusOr<std::shared_ptr<const TrainingData>> data =
      openRunData(config, *job.tokenizer, dataCache(request.runs), job.log);
  if (!data.ok())
    return data.status();
  job.data = *std::move(data);
  if (job.resume)
    if (absl::Status status =
            checkIdentity(*job.resume, {"", job.tokenizer->checksum(), job.data->checksum()});
        !status.ok())
      return status;
  if (absl::Status status = prepareProgram(request, job); !status.ok())
    return status;
  if (absl::Status status = checkMesh(job.executable, config); !status.ok())
    return status;
  job.log.line(bannerLine(config, job.executable));
  if (request.stopRequested())
    return withExitCode(absl::CancelledError("stopped by a signal before the first step"), ExitCode::Stopped);
  return startRanks(request, job);
}

} // namespace

bool isExecutableFile(const std::string &file) { return absl::EndsWith(file, ".weft"); }

int64_t memoryLimitOf(const Config &config) {
  const int64_t all = config.launch.memoryLimit ? *config.launch.memoryLimit : machineMemoryLimit();
  return all / config.parallel.ranks();
}

absl::StatusOr<LoadedConfig> executableConfig(const Executable &executable, const std::string &file,
                                              const std::vector<std::string> &overrides) {
  const std::string here = std::filesystem::current_path().string();
  absl::StatusOr<LoadedConfig> compiled = loadConfigText(executable.config, file + ": config", here);
  if (!compiled.ok())
    return withExitCode(compiled.status(), ExitCode::Config);
  absl::StatusOr<LoadedConfig> loaded = loadConfigText(executable.config, file + ": config", here, overrides);
  if (!loaded.ok())
    return withExitCode(loaded.status(), ExitCode::Config);
  for (const ResumeDifference &difference : compareForResume(compiled->config, loaded->config)) {
    const bool known =
        std::any_of(std::begin(kRuntimeKeys), std::end(kRuntimeKeys),
                    [&](absl::string_view key) { return absl::StartsWith(difference.path, key); });
    if (!known)
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
  Job job;
  if (absl::Status status = loadJob(request, job); !status.ok())
    return status;
  if (request.dryRun)
    return dryRun(request, job);
  absl::StatusOr<RunFolder> folder =
      makeRunFolder(request.runs, request.name.empty() ? defaultRunName(request.file) : request.name);
  if (!folder.ok())
    return folder.status();
  job.folder = *std::move(folder);
  absl::StatusOr<checkpoint::RunLock> lock = checkpoint::RunLock::acquire(job.folder.path);
  if (!lock.ok())
    return lock.status();
  absl::StatusOr<RunLog> log = RunLog::open(job.folder.log(), true);
  if (!log.ok())
    return log.status();
  job.log = *std::move(log);
  return runJob(request, job);
}

} // namespace weft
