//===- LaunchTest.cpp - What a launcher gives, and what does not fit it ---===//
#include "ConfigTestSupport.h"

#include <gmock/gmock.h>

namespace weft {

using testing::HasSubstr;

static absl::StatusOr<LoadedConfig> launched(int size, const Overrides &overrides) {
  return loadConfigText(smallRun, "run.yaml", "/runs", overrides, Launcher{"mpirun", 0, size});
}

TEST(Launch, ProcessesAreTheRanks) {
  const LoadedConfig loaded = *launched(4, {"parallel={data_shard: -1, tensor: 2}"});
  EXPECT_EQ(loaded.config.launch.ranks, 4);
  EXPECT_EQ(loaded.config.parallel.dataShard, 2);
  EXPECT_THAT(loaded.resolvedYaml(), HasSubstr("# mpirun -n 4"));
  EXPECT_EQ(launched(4, {"parallel.tensor=4", "launch.ranks=4"})->config.launch.ranks, 4);
}

TEST(Launch, OneProcessIsALauncherOnlyWhereTheFileSaysSo) {
  EXPECT_EQ(launched(1, {"parallel.tensor=2"})->config.launch.ranks, std::nullopt);
  EXPECT_EQ(launched(1, {"launch.comm=mpi"})->config.launch.ranks, 1);
  EXPECT_EQ(launched(1, {"parallel.tensor=2", "launch.comm=local"})->config.launch.ranks, std::nullopt);
}

TEST(Launch, WhatDoesNotFitIsRefusedWithWhatWould) {
  EXPECT_EQ(
      errorOf(launched(3, {"parallel={data_shard: 2, tensor: 2}"})),
      "mpirun -n 3: launch.ranks: 3 is not data_replicate x data_shard x tensor (1 x 2 x 2 = 4). Works: "
      "mpirun -n 4.");
  EXPECT_EQ(
      errorOf(launched(2, {"parallel={tensor: 1}"})),
      "mpirun -n 2: launch.ranks: 2 is not data_replicate x data_shard x tensor (1 x 1 x 1 = 1). Works: "
      "mpirun -n 1, or data_shard: -1 (what is left).");
  EXPECT_EQ(errorOf(launched(2, {"parallel.tensor=4", "launch.ranks=4"})),
            "--set: launch.ranks: 4, and mpirun started 2 processes, one for each rank. Works: 2, auto, or "
            "mpirun -n 4.");
  EXPECT_EQ(
      errorOf(launched(2, {"launch.comm=local"})),
      "--set: launch.comm: local means that all ranks are threads of one process, and mpirun started 2, "
      "each of which would be the whole job. Works: auto or mpi, or weft without mpirun.");
  EXPECT_EQ(
      errorOf(launched(1, {"launch.comm=mpi", "parallel.tensor=2"})),
      "mpirun -n 1: launch.ranks: 1 is not data_replicate x data_shard x tensor (1 x 1 x 2 = 2). Works: "
      "mpirun -n 2.");
}

} // namespace weft
