#include "tests/unit/TestFolder.h"

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
  TestFolder root;
};

TEST_F(MachineMemory, IsThePhysicalMemoryWithoutAGroup) {
  root.write("proc/meminfo", "MemFree:  5 kB\nMemTotal:       1024 kB\nBuffers: 3 kB\n");
  EXPECT_EQ(machineMemoryLimit(root.path()), 1024 * 1024);
}

TEST_F(MachineMemory, IsTheLowestLimitOfTheGroupsAboveTheProcess) {
  root.write("proc/meminfo", "MemTotal: 1000000 kB\n");
  root.write("proc/self/cgroup", "0::/slice/job\n");
  root.write("sys/fs/cgroup/slice/job/memory.max", "max\n");
  root.write("sys/fs/cgroup/slice/memory.max", "300000\n");
  EXPECT_EQ(machineMemoryLimit(root.path()), 300000);
  root.write("sys/fs/cgroup/slice/job/memory.max", "200000\n");
  EXPECT_EQ(machineMemoryLimit(root.path()), 200000);
}

TEST_F(MachineMemory, ReadsTheMemoryControllerOfVersionOne) {
  root.write("proc/meminfo", "MemTotal: 1000000 kB\n");
  root.write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/b\n");
  root.write("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "400000\n");
  root.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1\n");
  EXPECT_EQ(machineMemoryLimit(root.path()), 400000);
}

TEST_F(MachineMemory, IsUnboundedWhereNothingCanBeRead) {
  EXPECT_EQ(machineMemoryLimit(root.path()), std::numeric_limits<int64_t>::max());
}

} // namespace
} // namespace weft
