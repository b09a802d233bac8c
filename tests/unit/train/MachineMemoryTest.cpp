#include "runtime/train/MachineMemory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <unistd.h>

namespace weft {
namespace {

/// Another machine's /proc and /sys.
class MachineMemory : public ::testing::Test {
protected:
  std::filesystem::path root =
      std::filesystem::path(::testing::TempDir()) / ("machine-memory-" + std::to_string(getpid()));

  void SetUp() override { std::filesystem::remove_all(root); }
  void TearDown() override { std::filesystem::remove_all(root); }
  void write(const std::string &file, const std::string &text) {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
};

TEST_F(MachineMemory, IsThePhysicalMemoryWithoutAGroup) {
  write("proc/meminfo", "MemFree:  5 kB\nMemTotal:       1024 kB\nBuffers: 3 kB\n");
  EXPECT_EQ(machineMemoryLimit(root), 1024 * 1024);
}

TEST_F(MachineMemory, IsTheLowestLimitOfTheGroupsAboveTheProcess) {
  write("proc/meminfo", "MemTotal: 1000000 kB\n");
  write("proc/self/cgroup", "0::/slice/job\n");
  write("sys/fs/cgroup/slice/job/memory.max", "max\n");
  write("sys/fs/cgroup/slice/memory.max", "300000\n");
  EXPECT_EQ(machineMemoryLimit(root), 300000);
  write("sys/fs/cgroup/slice/job/memory.max", "200000\n");
  EXPECT_EQ(machineMemoryLimit(root), 200000);
}

TEST_F(MachineMemory, ReadsTheMemoryControllerOfVersionOne) {
  write("proc/meminfo", "MemTotal: 1000000 kB\n");
  write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/b\n");
  write("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "400000\n");
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1\n");
  EXPECT_EQ(machineMemoryLimit(root), 400000);
}

TEST_F(MachineMemory, IsUnboundedWhereNothingCanBeRead) {
  EXPECT_EQ(machineMemoryLimit(root), std::numeric_limits<int64_t>::max());
}

} // namespace
} // namespace weft
