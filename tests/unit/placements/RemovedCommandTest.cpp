// No command by which ranks meet can be lost on one rank: in the executables of the model zoo any single
// collective, send, receive or wait is taken out of one rank's list, and what is left must be refused.
#include "compiler/Compile.h"
#include "kernels/cpu/Cpu.h"
#include "runtime/config/ConfigLoader.h"
#include "runtime/executable/CommandLists.h"
#include "tests/unit/placements/Zoo.h"

#include "gtest/gtest.h"

#include <iostream>
#include <numeric>

namespace weft {
namespace {

std::vector<Executable> compile(const Job &job) {
  absl::StatusOr<LoadedConfig> loaded = loadConfigText(smallRun, "run.yaml", "/runs", job.settings);
  if (!loaded.ok()) {
    ADD_FAILURE() << loaded.status();
    return {};
  }
  CompileOptions options;
  options.target = {std::string(cpu::name(cpu::supportedInstructionSets().front()))};
  absl::StatusOr<Compiled> compiled = compileJob(loaded->config, loaded->resolvedYaml(), options);
  if (!compiled.ok()) {
    ADD_FAILURE() << job.name << ": " << compiled.status();
    return {};
  }
  return std::move(compiled->parts);
}

class RemovedCommand : public testing::TestWithParam<Job> {
protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(cpu::useInstructionSet(cpu::supportedInstructionSets().front()).ok());
  }
};

TEST_P(RemovedCommand, OnOneRankIsRefused) {
  const std::vector<Executable> parts = compile(GetParam());
  if (parts.empty())
    return;
  std::vector<int64_t> ranks(static_cast<size_t>(parts.front().mesh.ranks()));
  std::iota(ranks.begin(), ranks.end(), int64_t{0});
  int64_t removals = 0;
  for (size_t program = 0; program < parts.front().programs.size(); ++program) {
    absl::StatusOr<std::vector<CommandList>> lists = commandListsOf(parts, program, ranks);
    ASSERT_TRUE(lists.ok()) << lists.status();
    ASSERT_TRUE(verifyCommandLists(parts, program, *lists).ok());
    for (CommandList &list : *lists) {
      const std::vector<CommandList::Entry> whole = list.entries;
      for (size_t entry = 0; entry < whole.size(); ++entry, ++removals) {
        list.entries.erase(list.entries.begin() + static_cast<ptrdiff_t>(entry));
        EXPECT_FALSE(verifyCommandLists(parts, program, *lists).ok())
            << GetParam().name << ", rank " << list.rank << ": command " << whole[entry].command;
        list.entries = whole;
      }
    }
  }
  EXPECT_GT(removals, 0);
  std::cout << GetParam().name << ": " << removals << " removals\n";
}

INSTANTIATE_TEST_SUITE_P(Zoo, RemovedCommand, testing::ValuesIn(jobs()),
                         [](const testing::TestParamInfo<Job> &job) { return job.param.name; });

} // namespace
} // namespace weft
