//===- MachineReportTest.cpp - What weft doctor finds ---------------------===//
//
// Machines are planted as files: /proc and /sys of processors with and without AVX-512, of containers with
// limits. What is asked of this machine alone is held against facts that any machine has.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/TestFolder.h"

#include "tools/weft/MachineReport.h"

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

using namespace weft;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {
class Machine : public testing::Test {
protected:
  void plant(const std::string &name, const std::string &text) { folder.write(name, text); }

  void plantProcessor(const std::string &flags) {
    plant("proc/cpuinfo",
          "processor\t: 0\nmodel name\t: Some CPU\nphysical id\t: 0\ncore id\t\t: 0\nflags\t\t: " + flags +
              "\n\nprocessor\t: 1\nmodel name\t: Some CPU\nphysical id\t: 0\ncore id\t\t: 0\nflags\t\t: " +
              flags + "\n");
  }

  TestFolder folder;
  const fs::path root = folder.root;
};

const std::string avx2 = "fpu sse2 avx2 fma f16c bmi2";
const std::string avx512 = avx2 + " avx512f avx512bw avx512vl avx512dq avx512cd";
} // namespace

static Finding find(const std::vector<Finding> &findings, const std::string &name) {
  for (const Finding &finding : findings)
    if (finding.name == name)
      return finding;
  return {"", "", "no finding named " + name, Presence::Absent, "", ""};
}

TEST_F(Machine, ModelAndCoresAreThoseOfCpuinfo) {
  plantProcessor(avx2);
  std::vector<Finding> findings = examineProcessor(root);
  EXPECT_EQ(find(findings, "model").value, "Some CPU");
  EXPECT_EQ(find(findings, "cores").value, "1 cores, 2 hardware threads");
  EXPECT_THAT(find(findings, "affinity").value, HasSubstr(" usable (0"));
}

TEST_F(Machine, TheHighestInstructionSetIsNamed) {
  plantProcessor(avx2);
  EXPECT_EQ(find(examineProcessor(root), "instruction set").value, "AVX2");
  plantProcessor(avx512);
  EXPECT_EQ(find(examineProcessor(root), "instruction set").value, "AVX512");
  plantProcessor(avx512 + " avx512_bf16 avx512_vnni");
  EXPECT_EQ(find(examineProcessor(root), "instruction set").value, "AVX512_BF16 (also avx512_vnni)");
  plantProcessor(avx512 + " avx512_bf16 amx_tile amx_int8 amx_bf16");
  EXPECT_EQ(find(examineProcessor(root), "instruction set").value, "AMX_BF16");
}

TEST_F(Machine, AProcessorBelowAvx2CannotTrain) {
  plantProcessor("fpu sse2 avx");
  std::vector<Finding> findings = examineProcessor(root);
  EXPECT_EQ(find(findings, "instruction set").presence, Presence::Required);
  EXPECT_FALSE(canTrain(findings));
  EXPECT_THAT(reportText(findings), HasSubstr("missing: this machine cannot train without\n  instruction "
                                              "set, for kernels need AVX2, FMA, F16C and "
                                              "BMI2: use a processor of 2013 or later, or let the virtual "
                                              "machine pass the host's processor through\n"));
}

TEST_F(Machine, NothingReadableIsNoCrash) {
  EXPECT_EQ(find(examineProcessor(root), "model").value, "unknown");
  EXPECT_EQ(find(examineMemory(root), "total").value, "unknown");
  EXPECT_EQ(find(examineMemory(root), "huge pages").value, "transparent: not supported");
}

TEST_F(Machine, MemoryAndHugePages) {
  plant("proc/meminfo",
        "MemTotal:        8388608 kB\nMemAvailable:    4194304 kB\nHugePages_Total:      12\n");
  plant("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  std::vector<Finding> findings = examineMemory(root);
  EXPECT_EQ(find(findings, "total").value, "8.0 GiB");
  EXPECT_EQ(find(findings, "available").value, "4.0 GiB");
  EXPECT_EQ(find(findings, "control group limit").value, "none");
  EXPECT_EQ(find(findings, "huge pages").value, "transparent: madvise, reserved: 12");
}

TEST_F(Machine, TheSmallestLimitOfTheNestedControlGroupsCounts) {
  plant("proc/self/cgroup", "0::/jobs/mine\n");
  plant("sys/fs/cgroup/jobs/memory.max", "2147483648\n");
  plant("sys/fs/cgroup/jobs/mine/memory.max", "max\n");
  plant("sys/fs/cgroup/jobs/mine/cpu.max", "150000 100000\n");
  plant("sys/fs/cgroup/jobs/cpu.max", "max 100000\n");
  EXPECT_EQ(find(examineMemory(root), "control group limit").value, "2.0 GiB");
  EXPECT_EQ(find(examineProcessor(root), "quota").value, "1.5 CPUs (control group)");
}

TEST_F(Machine, AnUnlimitedControlGroupOfVersionOneIsNoLimit) {
  plant("proc/self/cgroup", "4:memory:/\n");
  plant("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(find(examineMemory(root), "control group limit").value, "none");
  plant("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(find(examineMemory(root), "control group limit").value, "1.0 GiB");
}

TEST_F(Machine, NumaNodesAreCounted) {
  plant("sys/devices/system/node/node0/cpulist", "0");
  plant("sys/devices/system/node/node1/cpulist", "1");
  plant("sys/devices/system/node/online", "0-1");
  EXPECT_EQ(find(examineProcessor(root), "NUMA nodes").value, "2");
}

TEST_F(Machine, AProgramOnTheSearchPathIsFoundAndAMissingOneSaysHowToInstallIt) {
  plant("bin/mpirun", "#!/bin/sh\n");
  fs::permissions(root / "bin/mpirun", fs::perms::owner_all);
  std::vector<Finding> findings = examinePrograms((root / "bin").string() + ":/nonexistent");
  EXPECT_EQ(find(findings, "mpirun").value, (root / "bin/mpirun").string());
  EXPECT_EQ(find(findings, "ld.lld").presence, Presence::Absent);
  EXPECT_THAT(reportText(findings), HasSubstr("  ld.lld, for generated kernels: apt-get install lld-22\n"));
}

TEST(Libraries, VersionsAreAskedOfTheLibraries) {
  std::vector<Finding> findings = examineLibraries();
  EXPECT_THAT(find(findings, "oneDNN").value, testing::MatchesRegex("2\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(find(findings, "Highway").value, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(Report, AMissingOptionalPartDoesNotKeepAMachineFromTraining) {
  std::vector<Finding> findings = {
      {"libraries", "MPI", "", Presence::Absent, "several processes", "apt-get install openmpi-bin"},
      {"libraries", "oneDNN", "2.6.3", Presence::Found, "", ""}};
  EXPECT_TRUE(canTrain(findings));
  EXPECT_EQ(reportText(findings), "libraries\n  MPI     not found\n  oneDNN  2.6.3\n"
                                  "not here, and needed only for some uses\n"
                                  "  MPI, for several processes: apt-get install openmpi-bin\n"
                                  "This machine can train.\n");
}

TEST(Report, JsonHoldsEveryFinding) {
  auto report = nlohmann::json::parse(reportJson(
      {{"libraries", "MPI", "", Presence::Absent, "several processes", "apt-get install openmpi-bin"},
       {"GPUs", "GPU 0", std::string("bad \xff name"), Presence::Found, "", ""}}));
  EXPECT_EQ(report["can_train"], true);
  EXPECT_EQ(report["findings"][0]["value"], nullptr);
  EXPECT_EQ(report["findings"][0]["presence"], "absent");
  EXPECT_EQ(report["findings"][1]["presence"], "found");
}

TEST(Report, ThisMachineIsExaminedInEverySection) {
  std::string text = reportText(examineMachine());
  for (const char *section : {"processor\n", "memory\n", "GPUs\n", "libraries\n", "programs\n"})
    EXPECT_THAT(text, HasSubstr(section));
}
