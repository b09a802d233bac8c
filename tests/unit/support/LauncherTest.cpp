// Who started this process, by what launchers leave in the environment.
#include "runtime/support/Launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace weft {
namespace {

absl::StatusOr<std::optional<Launcher>> find(std::map<std::string, std::string> variables) {
  return findLauncher([variables = std::move(variables)](const char *name) {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(FindLauncher, NobodyIsAProcessOfItsOwn) {
  EXPECT_EQ(*find({}), std::nullopt);
  // A batch script has a rank, and the job's tasks, but is no step.
  EXPECT_EQ(*find({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}), std::nullopt);
  EXPECT_EQ(*find({{"RANK", "0"}}), std::nullopt);
}

TEST(FindLauncher, KnowsLaunchersByTheirVariables) {
  EXPECT_EQ(*find({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
            (Launcher{"mpirun", 2, 4}));
  EXPECT_EQ(*find({{"SLURM_PROCID", "7"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"PMIX_RANK", "7"}}),
            (Launcher{"srun", 7, 8}));
  EXPECT_EQ(*find({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), (Launcher{"mpiexec", 0, 2}));
  EXPECT_EQ((Launcher{"srun", 0, 8}).command(4), "srun -n 4");
}

TEST(FindLauncher, MpirunInsideOfAnAllocationIsTheOneThatCounts) {
  EXPECT_EQ((*find({{"OMPI_COMM_WORLD_RANK", "1"},
                    {"OMPI_COMM_WORLD_SIZE", "2"},
                    {"SLURM_PROCID", "0"},
                    {"SLURM_STEP_NUM_TASKS", "1"},
                    {"RANK", "1"},
                    {"WORLD_SIZE", "2"},
                    {"MASTER_ADDR", "node1"}}))
                ->name,
            "mpirun");
}

TEST(FindLauncher, VariablesThatMeanNothingAreNoLauncher) {
  EXPECT_EQ(*find({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), std::nullopt);
  EXPECT_EQ(*find({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), std::nullopt);
  EXPECT_EQ(*find({{"OMPI_COMM_WORLD_RANK", "-1"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), std::nullopt);
}

TEST(FindLauncher, TorchrunIsRefusedByItsFirstProcess) {
  auto refusal = [](const char *rank) {
    return find({{"RANK", rank}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", rank}, {"MASTER_ADDR", "node1"}})
        .status();
  };
  EXPECT_EQ(refusal("0").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refusal("0").message()),
              ::testing::HasSubstr("The same job: mpirun -n 16 weft train RUN.yaml, or srun."));
  EXPECT_EQ(refusal("3").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refusal("3").message(), "");
}

} // namespace
} // namespace weft
