//===- MachineMemory.cpp - How much memory a job may have -----------------===//
//
// A control group is also bound by those above it, so every folder from the process's own up to the root of
// the hierarchy is asked.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/MachineMemory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

namespace weft {
namespace {

namespace fs = std::filesystem;

/// The number at the start of a file; none when it is not there or says "max".
std::optional<int64_t> numberIn(const fs::path &file) {
  std::ifstream stream(file);
  int64_t number = 0;
  if (stream >> number && number > 0)
    return number;
  return std::nullopt;
}

std::optional<int64_t> physicalMemory(const fs::path &root) {
  std::ifstream stream(root / "proc/meminfo");
  std::string key;
  int64_t kibibytes = 0;
  while (stream >> key) {
    if (key == "MemTotal:" && stream >> kibibytes)
      return kibibytes * 1024;
    stream.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

} // namespace

int64_t machineMemoryLimit(const fs::path &root) {
  int64_t limit = physicalMemory(root).value_or(std::numeric_limits<int64_t>::max());
  std::ifstream groups(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) { // hierarchy:controllers:path
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && ("," + controllers + ",").find(",memory,") == std::string::npos)
      continue;
    const fs::path base = root / (unified ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    const char *name = unified ? "memory.max" : "memory.limit_in_bytes";
    for (fs::path group = fs::path(line.substr(second + 1)).relative_path();; group = group.parent_path()) {
      if (std::optional<int64_t> bytes = numberIn(base / group / name))
        limit = std::min(limit, *bytes);
      if (group.empty())
        break;
    }
  }
  return limit;
}

} // namespace weft
