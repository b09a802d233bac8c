//===- Launcher.h - Who started this process ------------------------------===//
//
// mpirun and srun tell the processes that they start what rank each is, in the environment. That is all that
// is asked here: whether there are other processes, before anything is done with them.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_LAUNCHER_H
#define WEFT_RUNTIME_SUPPORT_LAUNCHER_H

#include "absl/status/statusor.h"

#include <functional>
#include <optional>
#include <string>

namespace weft {

struct Launcher {
  std::string name; ///< of the program: mpirun, srun
  int rank = 0;
  int size = 1; ///< processes that it started

  /// The command line that starts this many processes: mpirun -n 4.
  std::string command(int64_t processes) const;
  bool operator==(const Launcher &) const = default;
};

/// The value of an environment variable, or null.
using Environment = std::function<const char *(const char *name)>;
const char *readEnvironment(const char *name);

/// The launcher of this process; none for one that was started by itself. FailedPrecondition, on rank 0 with
/// the mpirun line that does the same, for torchrun, whose processes cannot find each other through MPI.
absl::StatusOr<std::optional<Launcher>> findLauncher(const Environment &environment = readEnvironment);

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_LAUNCHER_H
