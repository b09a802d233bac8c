//===- TrainRun.h - A run, from its file to its last step -----------------===//
//
// What `weft train` does: the config, the run's folder and lock, the point to resume from, the data, the
// program (compiled by whoever calls, or read from an executable), the machine, and then one trainer for each
// rank that is here. Of several processes that of rank 0 does all that is done once, and the others have it
// from there. Each thing that can be refused is refused before the next is begun;
// nothing is trained before all is known.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_TRAINRUN_H
#define WEFT_RUNTIME_TRAIN_TRAINRUN_H

#include "runtime/config/ConfigLoader.h"
#include "runtime/executable/MemoryLimits.h"
#include "runtime/train/RunOnRanks.h"
#include "runtime/train/Trainer.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// What the compiler is asked for.
struct CompileRequest {
  std::string output; ///< the executable; empty: only compile and tell where memory goes
  std::string reproducer;
  MemoryLimits limits;
  int64_t ranks = 0; ///< launch.ranks, where the launcher gave it; else 0
};

struct TrainRequest {
  std::string file; ///< a run file, or an executable (whose name ends in .weft)
  std::vector<std::string> overrides;
  std::string runs = "runs";
  std::string name; ///< empty: defaultRunName
  bool dryRun = false;
  bool profile = false;
  /// Compiles `file` with `overrides`; its warnings and errors were printed already.
  std::function<absl::Status(const CompileRequest &)> compile;
  std::function<bool()> stopRequested = [] { return false; };
  CommunicatorWrapper wrapCommunicator; ///< absent: ranks talk to their group
  SavingMeans saving;
};

/// Runs or resumes the run. Every error carries an exit code.
absl::Status trainRun(const TrainRequest &request);

/// Whether the file is an executable rather than a run file, by its name.
bool isExecutableFile(const std::string &file);

/// The config in an executable with overrides over it. Refused are those of keys that the program was
/// compiled from: they need the compiler.
absl::StatusOr<LoadedConfig> executableConfig(const Executable &executable, const std::string &file,
                                              const std::vector<std::string> &overrides,
                                              const std::optional<Launcher> &launcher = std::nullopt);

/// The memory that a run here may have: launch.memory_limit, or what the machine gives, of `ranks` ranks
/// together, and launch.memory_per_rank of each.
MemoryLimits memoryLimitsOf(const Config &config, int64_t ranks);
/// What there is where the job will run, which need not be here: launch.memory_per_rank, else as above for
/// all ranks of the job; nothing is known of more ranks than a machine runs.
MemoryLimits planLimitsOf(const Config &config);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_TRAINRUN_H
