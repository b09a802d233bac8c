//===- TrainRun.h - A run, from its file to its last step -----------------===//
//
// What `weft train` does: the config, the run's folder and lock, the point to resume from, the data, the
// program (compiled by whoever calls, or read from an executable), the machine, and then one trainer for each
// rank, as threads of this process. Each thing that can be refused is refused before the next is begun;
// nothing is trained before all is known.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_TRAINRUN_H
#define WEFT_RUNTIME_TRAIN_TRAINRUN_H

#include "runtime/config/ConfigLoader.h"
#include "runtime/executable/Executable.h"
#include "runtime/train/RunOnRanks.h"

#include <functional>
#include <string>
#include <vector>

namespace weft {

/// What the compiler is asked for.
struct CompileRequest {
  std::string output; ///< the executable; empty: only compile and tell where memory goes
  std::string reproducer;
  int64_t memoryLimit = 0; ///< bytes of each rank
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
};

/// Runs or resumes the run. Every error carries an exit code.
absl::Status trainRun(const TrainRequest &request);

/// Whether the file is an executable rather than a run file, by its name.
bool isExecutableFile(const std::string &file);

/// The config in an executable with overrides over it. Refused are those of keys that the program was
/// compiled from: they need the compiler.
absl::StatusOr<LoadedConfig> executableConfig(const Executable &executable, const std::string &file,
                                              const std::vector<std::string> &overrides);

/// The memory that each rank may have: launch.memory_limit, or what the machine gives, over the ranks.
int64_t memoryLimitOf(const Config &config);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_TRAINRUN_H
