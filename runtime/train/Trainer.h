//===- Trainer.h - The training loop --------------------------------------===//
//
// data -> step -> metrics -> evaluation -> checkpoint, until the last step, a signal, or a policy that stops.
// Everything that persists is in the executable's variables and in Progress, so a run that resumes goes
// through the same states, bit for bit. The trainer holds no process-wide state: several may run as threads
// of one process, each with its communicator. All ranks go through the loop together, since what they decide
// by is the same on all; what is written but for checkpoints and logs, rank 0 writes.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_TRAINER_H
#define WEFT_RUNTIME_TRAIN_TRAINER_H

#include "runtime/comm/Communicator.h"
#include "runtime/config/Config.h"
#include "runtime/data/DataLoader.h"
#include "runtime/exec/Executor.h"
#include "runtime/metrics/MetricsWriter.h"
#include "runtime/metrics/TensorBoardWriter.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/train/Anomaly.h"
#include "runtime/train/CheckpointSaver.h"
#include "runtime/train/Evaluator.h"
#include "runtime/train/MachineRates.h"
#include "runtime/train/Resume.h"
#include "runtime/train/RunFolder.h"
#include "runtime/train/RunLog.h"
#include "runtime/train/StepProgram.h"
#include "runtime/train/ValueDump.h"
#include "runtime/train/VariableState.h"

#include <cstring>
#include <functional>
#include <memory>
#include <optional>

namespace weft {

/// What comes first in a step of the whole job, of which a rank has a part.
struct StepOrder {
  std::vector<std::vector<int64_t>> startTimes; ///< by part: LogicalTime.h
  std::vector<NamedValue> values;               ///< of all parts; none where nothing is to be dumped

  /// Empty for a job without a program `step`.
  static StepOrder of(const std::vector<Executable> &parts, const Config &config);
};

/// What saving is made of. Trials put others in their place.
struct SavingMeans {
  checkpoint::FileSystem *files = &checkpoint::systemFiles();
  CopyBytes copy = [](void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); };
};

/// What a trainer works with. All of it outlives the trainer.
struct TrainerContext {
  const Config &config;
  const RunFolder &folder;
  Executor &executor;
  std::shared_ptr<const TrainingData> data;
  const Tokenizer &tokenizer;
  Communicator &communicator;
  RunLog &log;
  RunIdentity identity;
  std::optional<double> flopsPerToken; ///< absent: no mfu
  MachineRates rates;                  ///< of this job's threads
  int64_t peakBytes = 0;               ///< planned, of the ranks of the job in this process
  const StepOrder &order;
  bool isOneProcess = true;            ///< all ranks are threads of one process
  bool profile = false;                ///< one step, on all ranks
  std::function<bool()> stopRequested; ///< asked after each step
  SavingMeans saving;
};

class Trainer {
public:
  /// The executor's variables hold the state after `progress.step` steps.
  static absl::StatusOr<std::unique_ptr<Trainer>> create(TrainerContext context, Progress progress);
  ~Trainer() { context.executor.setBeforeWrites(nullptr); }

  /// Trains to the end. CANCELLED (exit code stopped) after a signal, with the state saved; exit code
  /// non-finite when a policy stopped the run.
  absl::Status run();

private:
  Trainer(TrainerContext context, Progress progress, StepProgram step);

  bool leads() const { return context.communicator.rank() == 0; }
  absl::Status openParts();
  absl::Status openWriters();
  void openSaver();
  absl::Status train();
  absl::Status runStep(bool &stop);
  absl::Status computeStep(StepResult &result);
  absl::Status runWatched();
  absl::Status runProfiled(int64_t number);
  absl::Status tellProfiles(const RunTimes &times, const Traffic &counted);
  absl::Status dump(int64_t number, const CommandObserver &observer);
  absl::Status handleAnomalies(const StepResult &result);
  absl::Status reportNonFinite(const StepResult &result);
  absl::StatusOr<std::string> examineNonFinite();
  absl::Status reportSpike(const StepResult &result, double mean);
  absl::Status report(const StepResult &result);
  absl::Status evaluate();
  absl::Status save(bool isLast);
  absl::Status endSave(absl::Status status);
  void tellSaved(const SaveReport &report);
  void addSaveMetrics(StepMetrics &record);
  absl::Status finish();
  /// The part of the time of the steps since the last line that this or, of all ranks, the slowest one waited
  /// for data.
  absl::StatusOr<double> shareWaited();
  absl::StatusOr<bool> meet();
  bool isEvery(int64_t interval) const;
  StepMetrics metricsOf(const StepResult &result);

  TrainerContext context;
  Progress progress;
  StepProgram step;
  std::optional<MetricsWriter> metrics;         ///< on rank 0
  std::optional<TensorBoardWriter> tensorBoard; ///< on rank 0, where the config asks for it
  ScalarState scalars;
  SpikeDetector spikes;
  std::unique_ptr<DataLoader> loader;
  std::optional<Evaluator> evaluator;
  std::optional<Evaluation> evaluation; ///< of the step at hand
  std::optional<Evaluation> lastEvaluation;
  std::vector<std::pair<std::string, double>> norms; ///< of the step at hand
  bool wasProfiled = false;
  int64_t firstStep;
  std::optional<SaveReport> saved;      ///< the last
  std::optional<SaveReport> untoldSave; ///< became whole since the last line of metrics
  bool lastWasFinite = true;
  double lineSeconds = 0; ///< spent in steps since the last line
  int64_t lineSteps = 0;
  double waitedBefore = 0;              ///< for data, at the last line
  double paceSeconds = 0;               ///< of a step, averaged
  std::optional<CheckpointSaver> saver; ///< last: it ends before what it saves goes
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_TRAINER_H
