#include "runtime/support/Launcher.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <array>
#include <cstdlib>

namespace weft {
namespace {

/// The variables in which a launcher tells rank and size. srun sets its own in every step, whichever plugin
/// it was given for MPI; in a batch script outside of srun there is no size of a step.
struct Convention {
  const char *launcher, *rank, *size;
};
constexpr std::array<Convention, 3> kConventions = {
    {{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
     {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
     {"mpiexec", "PMI_RANK", "PMI_SIZE"}}};

std::optional<int> number(const Environment &environment, const char *name) {
  int value = 0;
  const char *text = environment(name);
  if (text == nullptr || !absl::SimpleAtoi(text, &value) || value < 0)
    return std::nullopt;
  return value;
}

} // namespace

const char *readEnvironment(const char *name) { return std::getenv(name); }

std::string Launcher::command(int64_t processes) const { return absl::StrCat(name, " -n ", processes); }

absl::StatusOr<std::optional<Launcher>> findLauncher(const Environment &environment) {
  for (const Convention &convention : kConventions) {
    std::optional<int> rank = number(environment, convention.rank);
    std::optional<int> size = number(environment, convention.size);
    if (rank && size && *rank < *size)
      return Launcher{convention.launcher, *rank, *size};
  }
  std::optional<int> size = number(environment, "WORLD_SIZE"), rank = number(environment, "RANK");
  if (!size || !rank || environment("MASTER_ADDR") == nullptr)
    return std::optional<Launcher>();
  if (*rank > 0) // rank 0 says it
    return absl::FailedPreconditionError("");
  return absl::FailedPreconditionError(
      absl::StrCat("torchrun started this process (RANK, WORLD_SIZE and MASTER_ADDR are set), and weft's "
                   "processes find each "
                   "other through MPI. The same job: mpirun -n ",
                   *size, " weft train RUN.yaml, or srun. Without other processes: unset RANK"));
}

} // namespace weft
