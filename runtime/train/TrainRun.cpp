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
#include "runtime/train/Banner.h"
#include "runtime/train/MachineMemory.h"
#include "runtime/train/ModelFlops.h"
#include "runtime/train/RankAgreement.h"
#include "runtime/train/RunData.h"
#include "runtime/train/Trainer.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace weft {
namespace {

/// Keys that the trainer reads and the compiler does not: an executable may be run with others.
constexpr absl::string_view kRuntimeKeys[] = {"checkpoint.",        "eval.",       "metrics.",
                                              "generate.",          "train.dump.", "train.spike.",
                                              "train.on_nonfinite", "data.train["};

/// A run on its way to the trainer.
struct Job {
  LoadedConfig loaded;
  RunFolder folder;
  RunLog log;
  Executable executable;
  double compileSeconds = 0;
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

absl::Status checkLimit(const Executable &executable, int64_t limit) {
  const uint64_t needed = executable.memory.peakBytes();
  if (needed <= static_cast<uint64_t>(limit))
    return absl::OkStatus();
  return withExitCode(
      absl::ResourceExhaustedError(absl::StrFormat(
          "memory: this plan needs %d bytes, the limit is %d (launch.memory_limit, or what "
          "this machine gives). Compile it smaller: weft compile RUN.yaml tells what would fit.",
          needed, limit)),
      ExitCode::OutOfMemory);
}

/// Brings the program into the run's folder, compiled or copied, and into memory.
absl::Status prepareProgram(const TrainRequest &request, Job &job) {
  const int64_t limit = memoryLimitOf(job.loaded.config);
  if (isExecutableFile(request.file)) {
    if (absl::Status status = checkLimit(job.executable, limit); !status.ok())
      return status;
    return withExitCode(writeExecutable(job.executable, job.folder.program()), ExitCode::Checkpoint);
  }
  const auto start = std::chrono::steady_clock::now();
  if (absl::Status status = request.compile({job.folder.program(), job.folder.reproducer(), limit});
      !status.ok())
    return status;
  job.compileSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return readProgram(job, job.folder.program());
}

absl::Status dryRun(const TrainRequest &request, const Job &job) {
  if (isExecutableFile(request.file))
    return checkLimit(job.executable, memoryLimitOf(job.loaded.config));
  return request.compile({"", "", memoryLimitOf(job.loaded.config)});
}

/// Everything after the program is there: the machine, the state, the loop.
absl::Status startTrainer(const TrainRequest &request, Job &job, Communicator &communicator,
                          const std::optional<checkpoint::Checkpoint> &resume,
                          std::shared_ptr<const TrainingData> data, const Tokenizer &tokenizer) {
  const Config &config = job.loaded.config;
  absl::StatusOr<std::unique_ptr<Device>> device =
      openCpuDevice(job.executable.target.instructionSet,
                    static_cast<int>(config.launch.threads.value_or(job.executable.target.threads)));
  if (!device.ok())
    return withExitCode(device.status(), ExitCode::Config);
  const std::optional<double> flops = modelFlopsPerToken(config, job.executable);
  double peak = 0;
  if (flops) {
    absl::StatusOr<double> measured = measurePeakFlops(**device, config.precision.recipe);
    if (!measured.ok())
      return measured.status();
    peak = *measured;
  }
  const Target target = job.executable.target;
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::create(std::move(job.executable), **device);
  if (!executor.ok())
    return withExitCode(executor.status(), ExitCode::Config);
  RunIdentity identity{job.loaded.resolvedYaml(), tokenizer.checksum(), data->checksum()};
  if (absl::Status status = checkRanksAgree(communicator, identity); !status.ok())
    return status;
  job.log.line(programLine(**executor, job.compileSeconds, peak));
  Progress progress;
  if (resume) {
    if (absl::Status status = restoreVariables(**executor, *resume, false); !status.ok())
      return status;
    absl::StatusOr<Progress> saved = savedProgress(*resume);
    if (!saved.ok())
      return saved.status();
    progress = *std::move(saved);
  } else {
    initializeVariables(**executor, static_cast<uint64_t>(config.train.seed));
  }
  job.log.line(absl::StrCat(describeData(config, *data),
                            "   resuming: ", resume ? resume->folder() : std::string("nothing to resume")));
  TrainerContext context{config,    job.folder,   **executor,      std::move(data),
                         tokenizer, communicator, job.log,         std::move(identity),
                         flops,     peak,         request.profile, request.stopRequested};
  absl::StatusOr<std::unique_ptr<Trainer>> trainer = Trainer::create(std::move(context), std::move(progress));
  if (!trainer.ok())
    return trainer.status();
  return (*trainer)->run();
}

absl::Status runJob(const TrainRequest &request, Job &job, Communicator &communicator) {
  const Config &config = job.loaded.config;
  absl::StatusOr<std::optional<checkpoint::Checkpoint>> resume =
      findResumePoint(job.folder.checkpoints(), config, job.log);
  if (!resume.ok())
    return resume.status();
  if (absl::Status status = writeFileTextAtomically(job.folder.config(), job.loaded.resolvedYaml());
      !status.ok())
    return withExitCode(status, ExitCode::Checkpoint);
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer =
      isExecutableFile(request.file) ? loadTokenizer(job.executable.tokenizer) : createTokenizer("bytes");
  if (!tokenizer.ok())
    return withExitCode(tokenizer.status(), ExitCode::Config);
  absl::StatusOr<std::shared_ptr<const TrainingData>> data =
      openRunData(config, **tokenizer, dataCache(request.runs), job.log);
  if (!data.ok())
    return data.status();
  if (*resume)
    if (absl::Status status = checkIdentity(**resume, {"", (*tokenizer)->checksum(), (*data)->checksum()});
        !status.ok())
      return status;
  if (absl::Status status = prepareProgram(request, job); !status.ok())
    return status;
  job.log.line(bannerLine(config, job.executable, communicator.size()));
  if (request.stopRequested())
    return withExitCode(absl::CancelledError("stopped by a signal before the first step"), ExitCode::Stopped);
  return startTrainer(request, job, communicator, *resume, *std::move(data), **tokenizer);
}

} // namespace

bool isExecutableFile(const std::string &file) { return absl::EndsWith(file, ".weft"); }

int64_t memoryLimitOf(const Config &config) {
  return config.launch.memoryLimit ? *config.launch.memoryLimit : machineMemoryLimit();
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

absl::Status trainRun(const TrainRequest &request, Communicator &communicator) {
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
  absl::StatusOr<RunLog> log = RunLog::open(job.folder.log(), communicator.rank() == 0);
  if (!log.ok())
    return log.status();
  job.log = *std::move(log);
  return runJob(request, job, communicator);
}

} // namespace weft
